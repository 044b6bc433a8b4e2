#pragma once

#include <vector>

#include "metrics/sample.hpp"
#include "metrics/summary.hpp"

namespace paceline::metrics {

/// Figures of a class without a default of the sampler over those with it, on the prompts and
/// rounds that both have: tokens/s, and that taken apart into passes/s and tokens/pass. `drafts`
/// says whether the arm has a drafter.
void fill_price(DefaultPrice& price, const Sample& with, const Sample& without, bool drafts);

/// What every default costs that some arm of the run leaves out, by that arm and class.
std::vector<DefaultPrice> price_defaults(const trace::Trace& trace);

}  // namespace paceline::metrics
