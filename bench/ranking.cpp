// How often the set of points that are not worse than the best holds the true best, and how often
// all intervals of a sweep hold at once, on simulated sweeps whose prompts, launches and noise are
// drawn anew each time. Prints a table; exits 1 when a row's set is under 95 %, or its intervals
// under 93 %, by more than the error of so many runs, but for the rows whose launches vary unalike,
// against what the method supposes.

#include "metrics/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using paceline::metrics::Candidate;
using paceline::metrics::Estimate;
using paceline::metrics::Grid;

constexpr double least_in_set = 0.95;
constexpr double least_coverage = 0.93;  ///< of all intervals at once, as in coverage.cpp
constexpr double prompt_sd = 0.15;
constexpr double round_sd = 0.02;
constexpr double noise_sd = 0.03;

struct Scenario {
  std::size_t points = 0;
  std::size_t prompts = 0;
  std::size_t launches = 0;
  double launch_sd = 0;  ///< of a point's launch
  double own_sd = 0;     ///< of a prompt on one point, beside what it is on all
  double step = 0;       ///< log speed between neighbours; 0: all are equally fast
  bool unlike = false;   ///< every other point's launches vary a quarter as much
};

double drawn(std::mt19937_64& random, double sd) {
  return sd > 0 ? std::normal_distribution<double>(0, sd)(random) : 0;
}

std::vector<double> draw(std::mt19937_64& random, std::size_t count, double sd) {
  std::vector<double> values(count);
  for (auto& value : values) value = drawn(random, sd);
  return values;
}

/// Points from the fastest, which is the true best also where all are equally fast; the last one is
/// the plain arm.
std::vector<Candidate> draw_sweep(std::mt19937_64& random, const Scenario& scenario) {
  const auto prompts = draw(random, scenario.prompts, prompt_sd);
  const auto rounds = draw(random, scenario.launches, round_sd);
  std::vector<Candidate> candidates;
  for (std::size_t point = 0; point <= scenario.points; ++point) {
    const double sd = scenario.launch_sd * (scenario.unlike && point % 2 == 1 ? 0.25 : 1);
    const auto launches = draw(random, scenario.launches, sd);
    Grid grid(scenario.prompts, scenario.launches);
    double sum = 0;
    for (std::size_t p = 0; p < scenario.prompts; ++p) {
      const double own = drawn(random, scenario.own_sd);
      for (std::size_t l = 0; l < scenario.launches; ++l)
        sum += grid.at(p, l) = prompts[p] + own + rounds[l] + launches[l] + drawn(random, noise_sd);
    }
    const double mean = sum / static_cast<double>(grid.values.size());
    for (auto& value : grid.values) value -= mean;
    const double truth = -scenario.step * static_cast<double>(point);
    candidates.push_back({"",
                          std::exp(truth + mean),
                          {{1, std::move(grid)}},
                          static_cast<double>(scenario.prompts)});
  }
  return candidates;
}

bool holds(const Estimate& estimate, double log_truth) {
  return std::log(*estimate.low) <= log_truth + 1e-12 &&
         log_truth <= std::log(*estimate.high) + 1e-12;
}

struct Tally {
  int best_in_set = 0;
  int all_against_best = 0;
  int all_speedups = 0;
  std::size_t set_size = 0;
};

void add_run(std::mt19937_64& random, const Scenario& scenario, Tally& tally) {
  auto candidates = draw_sweep(random, scenario);
  const auto launches = paceline::metrics::pooled_launch_variance(candidates);
  const Candidate plain = candidates.back();
  candidates.pop_back();
  const auto ranking = paceline::metrics::rank(candidates, launches);
  bool against_best = true;
  bool speedups = true;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double truth = i == 0 ? scenario.step : -scenario.step * static_cast<double>(i);
    against_best = against_best && holds(ranking.standings[i].against_best, truth);
    speedups = speedups && holds(paceline::metrics::simultaneous_ratio(candidates[i], plain,
                                                                       launches, candidates.size()),
                                 scenario.step * static_cast<double>(scenario.points - i));
    tally.set_size += ranking.standings[i].in_best_set ? 1 : 0;
  }
  tally.best_in_set += ranking.standings[0].in_best_set ? 1 : 0;
  tally.all_against_best += against_best ? 1 : 0;
  tally.all_speedups += speedups ? 1 : 0;
}

/// Prints one line; false when something covers too little.
bool measure(const Scenario& scenario, int runs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Tally tally;
  for (int run = 0; run < runs; ++run) add_run(random, scenario, tally);
  const auto share = [runs](int held) { return static_cast<double>(held) / runs; };
  fmt::print(
      "{:>6} {:>7} {:>8} {:>9.0f} % {:>8.0f} % {:>6.1f} % {:>6}   {:6.2f} %  {:6.2f} %  {:6.2f} %  "
      "{:5.1f}\n",
      scenario.points, scenario.prompts, scenario.launches, 100 * scenario.launch_sd,
      100 * scenario.own_sd, 100 * scenario.step, scenario.unlike ? "unlike" : "",
      100 * share(tally.best_in_set), 100 * share(tally.all_against_best),
      100 * share(tally.all_speedups), static_cast<double>(tally.set_size) / runs);
  const auto reaches = [&](int held, double least) {
    return share(held) + 1.96 * std::sqrt(share(held) * (1 - share(held)) / runs) >= least;
  };
  return scenario.unlike ||
         (reaches(tally.best_in_set, least_in_set) &&
          reaches(std::min(tally.all_against_best, tally.all_speedups), least_coverage));
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 2000;
  constexpr std::uint64_t seed = 20240608;
  if (runs < 1) {
    fmt::print(stderr, "ranking: the number of runs must be 1 or more\n");
    return 2;
  }
  fmt::print("{} sweeps each, seed {}; prompt sd {}, round sd {}, noise sd {}\n", runs, seed,
             prompt_sd, round_sd, noise_sd);
  fmt::print(
      "points prompts launches launch sd prompt own  step           best in set  all over best  "
      "all speed-ups  set\n");
  bool is_enough = true;
  for (const std::size_t points : {2U, 6U, 12U, 24U})
    for (const std::size_t launches : {3U, 5U})
      for (const double launch_sd : {0.0, 0.02, 0.04})
        for (const double step : {0.0, 0.01})
          is_enough =
              measure({points, 8, launches, launch_sd, 0.05, step}, runs, seed) && is_enough;
  for (const double step : {0.0, 0.01}) {
    is_enough = measure({6, 24, 3, 0.02, 0.05, step}, runs, seed) && is_enough;
    is_enough = measure({6, 8, 3, 0.02, 0.0, step}, runs, seed) && is_enough;
    measure({6, 8, 3, 0.04, 0.05, step, true}, runs, seed);
    measure({6, 8, 3, 0.04, 0.0, step, true}, runs, seed);
  }
  return is_enough ? 0 : 1;
}
