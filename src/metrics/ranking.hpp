#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "metrics/estimate.hpp"
#include "metrics/interval.hpp"

// Many speeds at once, on the same prompts and rounds. What is said of them holds of all together
// with 95 %: levels of single comparisons after Sidak (1967), which are exact for independent ones
// and safe for these. docs/sweep.md has the rules.

namespace paceline::metrics {

/// A speed above zero and the deviations of its logarithm.
struct Candidate {
  std::string name;
  double speed = 0;
  std::vector<Stratum> strata;
  double n_eff = 0;
};

/// A candidate beside the best of the others.
struct Standing {
  Estimate against_best;     ///< over the speed of the best of the others
  bool in_best_set = false;  ///< not worse than the best, as far as this can tell
};

struct Ranking {
  std::size_t best = 0;             ///< the highest speed
  std::vector<Standing> standings;  ///< in the order of the candidates; empty: no set
  std::string reason;               ///< why there is no set; empty where there is one
};

/// Variance of a launch of one candidate: what is left of all launch means once each candidate and
/// each round has its own. Launches of all candidates are taken to vary alike, which gives
/// (candidates - 1) x (rounds - 1) degrees of freedom. There must be two candidates and two rounds.
LaunchVariance pooled_launch_variance(const std::vector<Candidate>& candidates);

/// Multiple comparisons with the best, each against the best of the others (Hsu 1984): the set
/// holds the true best with 95 %. `launches` is one candidate's.
Ranking rank(const std::vector<Candidate>& candidates, const LaunchVariance& launches);

/// Whether one of so many candidates, at least two, is faster than another by more than the room
/// that rank() gives chance between them; false where there can be no set.
bool is_surely_faster(const Candidate& one, const Candidate& other, const LaunchVariance& launches,
                      std::size_t candidates);

/// `speed` over `base` with an interval that holds in `comparisons` of them together.
Estimate simultaneous_ratio(const Candidate& speed, const Candidate& base,
                            const LaunchVariance& launches, std::size_t comparisons);

/// The speed itself, likewise, from its own prompts and launches.
Estimate simultaneous_speed(const Candidate& candidate, std::size_t comparisons);

}  // namespace paceline::metrics
