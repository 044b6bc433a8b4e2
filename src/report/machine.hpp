#pragma once

#include <string>

#include "document/machine.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// What the machine is and does now, in a line each, what is not known with its reason.
std::string machine(const document::MachineReport& report, const Style& style);

}  // namespace paceline::report
