#pragma once

#include <string>

#include "document/roofline.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// Bytes of passes by class and width, what was observed beside them, and the ceilings.
std::string roofline(const document::Roofline& roofline, const Style& style);

}  // namespace paceline::report
