#pragma once

#include <string>

#include "document/document.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// A sweep's points, fastest first, its draft lengths, the set of the best and what the winner is
/// on held-out prompts; empty when the run is none.
std::string sweep_tables(const document::Document& document, const Style& style, Notes& notes);

}  // namespace paceline::report
