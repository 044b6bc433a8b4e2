#pragma once

#include <string>

#include "document/document.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// What each drafter of an arm with several of them did; empty when no arm has several.
std::string drafter_table(const document::Document& document, const Style& style, Notes& notes);

/// How many tokens the passes of each arm that speculates held, the most frequent first; empty when
/// none was seen.
std::string pass_width_table(const document::Document& document, const Style& style);

}  // namespace paceline::report
