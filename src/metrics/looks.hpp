#pragma once

#include <vector>

namespace paceline::metrics {

/// Confidence of a verdict's intervals, 0.95 in all: where a verdict is looked for several times,
/// each look spends a part of the error of 5 %, by Lan and DeMets (1983) with their function of
/// Pocock's kind, alpha ln(1 + (e - 1) t). The parts add up (no joint distribution of the looks is
/// supposed, which few launches would not bear out). `rounds` are the launches of each arm done;
/// between two looks it is that of the next one. Without looks it is 0.95.
double confidence_after(int rounds, const std::vector<int>& looks);

}  // namespace paceline::metrics
