#pragma once

#include <vector>

#include "document/comparisons.hpp"
#include "metrics/summary.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// The comparisons that the run was made for; empty where it was made for none.
std::vector<Comparison> to_comparisons(const trace::Trace& trace, const metrics::Summary& summary);

}  // namespace paceline::document
