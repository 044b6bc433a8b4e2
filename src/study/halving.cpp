#include "study/halving.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "metrics/summary.hpp"
#include "metrics/sweep.hpp"

namespace paceline::study {

namespace {

constexpr int finalists = 4;

struct Placed {
  std::string arm;
  double speed = 0;
};

bool was_launched(const trace::Trace& trace, const std::string& arm, int round) {
  return std::any_of(trace.launches.begin(), trace.launches.end(), [&](const auto& launch) {
    return launch.arm == arm && launch.round == round;
  });
}

/// The points of the round before, fastest first; one without a figure comes last.
std::vector<Placed> placed(const trace::Trace& trace, int round) {
  const auto mix = metrics::mix_of(trace);
  std::vector<Placed> points;
  for (const auto& point : trace.header.sweep->points)
    if (round == 0 || was_launched(trace, point.arm, round - 1))
      points.push_back({point.arm, metrics::mix_speed(trace, point.arm, mix).value_or(0)});
  std::stable_sort(points.begin(), points.end(),
                   [](const Placed& one, const Placed& other) { return one.speed > other.speed; });
  return points;
}

}  // namespace

std::vector<int> halving_rungs(std::size_t points, int launches) {
  std::vector<int> rungs = {static_cast<int>(points)};
  while (rungs.back() > finalists) rungs.push_back(std::max(finalists, (rungs.back() + 1) / 2));
  while (std::cmp_less(rungs.size(), launches)) rungs.push_back(rungs.back());
  return rungs;
}

Selection halving(const RunOptions& options) {
  return [arms = options.arms](const trace::Trace& trace, int round) {
    auto points = placed(trace, round);
    const auto room =
        static_cast<std::size_t>(trace.header.sweep->rungs[static_cast<std::size_t>(round)]);
    if (points.size() > room) points.resize(room);
    std::set<std::string> wanted;
    for (const auto& point : points) {
      wanted.insert(point.arm);
      wanted.insert(trace::find_arm(arms, point.arm)->plain);
    }
    std::vector<bool> selected;
    for (const auto& arm : arms) selected.push_back(wanted.contains(arm.name));
    return selected;
  };
}

}  // namespace paceline::study
