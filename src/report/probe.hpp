#pragma once

#include <string>

#include "document/machine.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// Bandwidths and gathers in tables, then what they say; or why nothing was measured.
std::string probe(const document::Known<document::Probe>& probe, const Style& style);

}  // namespace paceline::report
