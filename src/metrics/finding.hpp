#pragma once

#include <optional>

#include "metrics/comparison.hpp"
#include "metrics/difference.hpp"

namespace paceline::metrics {

/// What a finding rests on beside the ratios themselves.
struct Grounds {
  std::optional<Difference> of_b;      ///< of the logarithm of tokens per second; absent: too few
  std::optional<Difference> of_again;  ///< likewise, of A again
  double confidence = 0.95;
  bool paired = true;  ///< A was measured again in the same run
};

/// Fills in what a comparison's ratios let one say (docs/compare.md).
void find(Comparison& comparison, const Grounds& grounds);

}  // namespace paceline::metrics
