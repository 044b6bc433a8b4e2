#pragma once

#include <string>
#include <vector>

#include "metrics/draft_map.hpp"
#include "trace/trace.hpp"

namespace paceline::metrics {

/// An arm of a predicted run: a mapped arm and how it drafts.
struct PredictedArm {
  std::string name;
  std::string mapped;        ///< the arm whose drafter was asked
  trace::Drafting drafting;  ///< n_max 0: the oracle
};

/// What maps of texts predict, as a run of which every figure can be made as of one that was
/// measured: a plain arm, every length and p-min of every drafter, and an oracle of each.
struct PredictedRun {
  trace::Trace trace;
  std::vector<PredictedArm> arms;  ///< those of the trace but for plain
  bool has_times = false;         ///< false: nothing was timed, and every pass counts as one second
  bool has_lucky_oracle = false;  ///< one was chosen by the times it takes: there are no others
};

/// Predicts from a trace of maps. A pass takes what passes of its width took where the same arm
/// drafted so along some of the texts, in each round of the trace. An oracle is chosen by the times
/// of the other rounds, so that it does not gain by what chance made fast in its own.
PredictedRun predict_run(const trace::Trace& mapped);

/// True of a map of drafts, which is no run that figures could be read off.
bool is_map(const trace::Trace& trace);

/// What the requests that passes were timed with say of the map: each followed a text that was
/// mapped, so that its passes are known beforehand.
struct MapCheck {
  long requests = 0;
  long requests_equal = 0;  ///< every pass offered and accepted what the map says
  long passes = 0;
  std::vector<std::string> differences;  ///< the first place of each request that differs
};
MapCheck check_map(const trace::Trace& mapped);

/// What decides the walks of an arm, from the facts of its launches.
WalkRules rules_of(const trace::Trace& mapped, const std::string& arm);

}  // namespace paceline::metrics
