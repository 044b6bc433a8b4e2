#pragma once

#include <string>

#include "document/model.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// What a file is, as text for a terminal: its facts in a line each, then its tensors by class and
/// type, then those of a drafter in it. Nothing in it is obeyed by a terminal.
std::string inspection(const document::Inspection& inspection, const Style& style);

}  // namespace paceline::report
