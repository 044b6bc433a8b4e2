#pragma once

#include <string>

#include "document/document.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// What was measured, with what and how: a line each.
std::string header_text(const document::Document& document, const Style& style);

}  // namespace paceline::report
