#pragma once

#include <vector>

#include "claim/row.hpp"
#include "trace/server.hpp"

namespace paceline::claim {

/// Adds what a server said, by the dialect that read it, to a row.
void add_said(const std::vector<trace::Said>& said, const std::string& source, Row& row);

/// A number that a machine wrote, without the rounding of a printed one.
Range machine_number(double value);

}  // namespace paceline::claim
