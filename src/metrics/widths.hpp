#pragma once

#include <optional>
#include <string_view>

#include "metrics/summary.hpp"

namespace paceline::metrics {

/// Pass time by width on one arm's engine, a curve for each depth that the context was filled to,
/// the shallowest first: medians within a launch, then the launches' mean on the log scale.
std::vector<WidthCurve> width_curves(const trace::Trace& trace, std::string_view arm);

/// Cost of the passes an arm made behind so much text, from probes there alone: each pass takes
/// what a pass of its width took when probed (verify, catch-up of the drafter, and a draft where
/// one was attempted), over the probed width 1 of the plain arm in the same round. No request
/// timing goes into it, which makes it a second opinion on pass_cost.
Estimate pass_cost_from_widths(const trace::Trace& trace, std::string_view arm,
                               std::string_view plain, const Counts& counts, int filled_tokens);

}  // namespace paceline::metrics
