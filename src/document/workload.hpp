#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"
#include "metrics/summary.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// An estimate as the document shows it; a value that is no finite number becomes unknown.
Quantity to_quantity(const metrics::Estimate& estimate);

/// One class on one arm. `curves` are the run's, for what its drafts may cost.
Workload to_workload(const metrics::ClassSummary& summary, const trace::Arm& arm,
                     const trace::Trace& trace, const std::vector<metrics::WidthCurve>& curves);

}  // namespace paceline::document
