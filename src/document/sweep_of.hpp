#pragma once

#include "document/sweep.hpp"
#include "metrics/summary.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// What a sweep found; unknown when the run is none.
Known<Sweep> to_sweep(const trace::Trace& trace, const metrics::Summary& summary);

}  // namespace paceline::document
