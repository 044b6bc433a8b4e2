#pragma once

#include "metrics/arithmetic.hpp"
#include "metrics/sweep.hpp"

namespace paceline::metrics {

/// The rows of the acceptance-against-throughput table, those that differ in nothing but the
/// longest draft together and in its order, and what has to be said of those that were not left
/// out. A group of one has no row. `surely_faster` is of cells, by their places.
void fill_draft_lengths(SweepSummary& summary, const trace::Header& header,
                        const SurelyFaster& surely_faster);

}  // namespace paceline::metrics
