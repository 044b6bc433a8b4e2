#pragma once

#include <string>

#include "document/document.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// What each default of the sampler costs that nobody asked for, taken apart; empty where none was
/// priced.
std::string price_table(const document::Document& document, const Style& style, Notes& notes);

}  // namespace paceline::report
