#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/estimate.hpp"
#include "trace/trace.hpp"

namespace paceline::metrics {

/// One part of a fill on one arm, over its launches: from the depth before it to its own.
struct FillSummary {
  std::string arm;
  int depth = 0;                        ///< tokens in the context afterwards
  int tokens = 0;                       ///< of this part
  Estimate prefill_tokens_per_s;        ///< of this part
  std::optional<double> drafter_share;  ///< of its time that the drafter took; absent: no drafter
  int launches = 0;                     ///< that reached the depth
  std::vector<std::string> failures;    ///< of the others, each reason once
};

/// Every depth that launches of the header's rounds tried to reach, by arm, the shallowest first.
std::vector<FillSummary> summarise_fills(const trace::Trace& trace);

}  // namespace paceline::metrics
