#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace paceline::trace {

/// An option that a sweep varies, with the values in their order.
struct SweptOption {
  std::string name;  ///< as in labels of points: "n-max", "ctk"
  std::vector<std::string> values;
};

/// Which points a sweep has: every combination of values, one option at a time around a point, or
/// every combination of which the slower half is left out from rung to rung.
enum class SweepMethod { full, around, halving };

/// An arm with the values that make it.
struct SweepPoint {
  std::string arm;
  std::vector<std::string> values;  ///< in the order of the options
};

/// What a sweep was going to do, fixed before it began.
struct Sweep {
  std::vector<SweptOption> options = {};
  SweepMethod method = SweepMethod::full;
  std::vector<SweepPoint> points = {};
  std::vector<int> rungs = {};  ///< points that are launched in each round, one a round
  std::string rule = {};        ///< how a point is chosen, in words
  int held_out_rounds = 0;  ///< launches, past the header's rounds, of the winner and its plain arm
                            ///< on prompts that nothing was chosen by; 0: there are none
  std::string no_held_out = {};  ///< why there are none; empty otherwise
};

/// Launches of the planned rounds: of every arm in each, but of a sweep's points only as many as
/// its rung has room for.
inline int planned_launches(std::size_t arms, int rounds, const std::optional<Sweep>& sweep) {
  if (!sweep) return rounds * static_cast<int>(arms);
  const int beside = static_cast<int>(arms - sweep->points.size());
  return std::accumulate(sweep->rungs.begin(), sweep->rungs.end(), rounds * beside);
}

}  // namespace paceline::trace
