#pragma once

#include <string>

#include "document/document.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// How near each arm comes on each class to what the memory permits, and what a pass is spent on;
/// empty when no bytes were counted.
std::string ceiling_table(const document::Document& document, const Style& style, Notes& notes);

}  // namespace paceline::report
