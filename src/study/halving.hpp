#pragma once

#include <vector>

#include "study/plan.hpp"

namespace paceline::study {

/// How many points are launched in each round of a successive halving: all of them once, then the
/// better half of those again and again until four are left, and those until they had `launches`.
std::vector<int> halving_rungs(std::size_t points, int launches);

/// The rule of such a sweep as a selection of arms: before each round the points that its rung has
/// no room for are left out, slowest first by the mix's tokens per second over all rounds so far.
/// Plain arms run as long as a point is held against them.
Selection halving(const RunOptions& options);

}  // namespace paceline::study
