#pragma once

#include "metrics/sweep.hpp"

namespace paceline::metrics {

/// The rows of the acceptance-against-throughput table, those that differ in nothing but the
/// longest draft together and in its order, and what has to be said of them. A group of one has no
/// row.
void fill_draft_lengths(SweepSummary& summary, const trace::Header& header);

}  // namespace paceline::metrics
