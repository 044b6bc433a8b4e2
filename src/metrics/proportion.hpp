#pragma once

#include <cstdint>

#include "metrics/estimate.hpp"

namespace paceline::metrics {

/// `part` of `whole` independent trials with Wilson's 95 % score interval (Wilson 1927, JASA 22),
/// which holds at 0 and 1 too. No value without a trial.
Estimate proportion(int part, int whole);

/// `part` of `whole` where the trials are not independent, so that no interval belongs to it.
double share(std::int64_t part, std::int64_t whole);

}  // namespace paceline::metrics
