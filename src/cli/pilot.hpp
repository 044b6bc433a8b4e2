#pragma once

#include "engine/engine.hpp"
#include "study/plan.hpp"
#include "util/result.hpp"

namespace paceline::cli {

/// What a round of a study, one launch of every arm, takes: measured on one launch of every arm
/// with few prompts, and reckoned from there.
struct Pilot {
  double took_s = 0;
  double round_s = 0;
};

util::Result<Pilot> pilot(const study::RunOptions& options,
                          const engine::EngineFactory& make_engine);

/// How many rounds a time holds, the pilot's own part taken off; at least one.
int rounds_within(double budget_s, const Pilot& pilot);

}  // namespace paceline::cli
