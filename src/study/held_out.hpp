#pragma once

#include "study/plan.hpp"

namespace paceline::study {

/// Fewest launches of the winner of a sweep on held-out prompts.
inline constexpr int fewest_held_out_launches = 3;

/// What follows a sweep: its winner and the plain arm of it, interleaved, on the prompts that were
/// held out, in rounds of their own. Nothing follows where no point has a speed.
Sequel held_out_run(const RunOptions& options);

}  // namespace paceline::study
