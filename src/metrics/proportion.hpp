#pragma once

#include "metrics/estimate.hpp"

namespace paceline::metrics {

/// `part` of `whole` independent trials with Wilson's 95 % score interval (Wilson 1927, JASA 22),
/// which holds at 0 and 1 too. No value without a trial.
Estimate proportion(int part, int whole);

}  // namespace paceline::metrics
