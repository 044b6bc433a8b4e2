#include "metrics/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "metrics/arithmetic.hpp"
#include "metrics/weighted.hpp"
#include "util/assert.hpp"

namespace paceline::metrics {

namespace {

constexpr double level = 0.95;
constexpr const char* level_name = "95 % of all points together";

/// What each of so many comparisons must hold with, for all to hold with 95 %.
double single_level(std::size_t comparisons) {
  return std::pow(level, 1 / static_cast<double>(comparisons));
}

/// Logarithm of the ratio of two speeds, and how well it is known.
struct SpeedRatio {
  double log_ratio = 0;
  Spread spread;
};

SpeedRatio ratio_of(const Candidate& one, const Candidate& other, const LaunchVariance& launches) {
  const LaunchVariance of_both{2 * launches.variance, launches.degrees_of_freedom};
  const auto known = spread(difference(one.strata, other.strata), of_both);
  PACELINE_ASSERT(known.has_value());
  return {std::log(one.speed / other.speed), *known};
}

std::string why_no_set(const std::vector<Candidate>& candidates) {
  if (candidates.size() < 2) return "there is nothing to compare with";
  for (const auto& candidate : candidates) {
    for (const auto& stratum : candidate.strata)
      if (auto reason = too_few(stratum.deviations.units, candidate.n_eff); !reason.empty())
        return reason;
  }
  const auto launches = candidates.front().strata.front().deviations.launches;
  if (launches >= fewest_launches) return "";
  return fmt::format("too few: {} launches that all points have, a comparison needs {}", launches,
                     fewest_launches);
}

Estimate bounded(double value, double low, double high, std::string method, int n) {
  Estimate estimate;
  estimate.value = std::exp(value);
  estimate.low = std::exp(low);
  estimate.high = std::exp(high);
  estimate.level = level_name;
  estimate.method = std::move(method);
  estimate.n = n;
  return estimate;
}

int prompts_of(const Candidate& candidate) {
  int prompts = 0;
  for (const auto& stratum : candidate.strata)
    prompts += static_cast<int>(stratum.deviations.units);
  return prompts;
}

/// What chance is given between two of so many: one side of the interval of their ratio.
double room_between(const Candidate& one, const Candidate& other, const LaunchVariance& launches,
                    std::size_t candidates) {
  return half_width(ratio_of(one, other, launches).spread, 2 * single_level(candidates - 1) - 1);
}

/// The differences of every candidate to every other, and the room that chance is given in each.
class Differences {
 public:
  Differences(const std::vector<Candidate>& candidates, const LaunchVariance& launches)
      : candidates_(candidates), launches_(launches) {}

  double of(std::size_t one, std::size_t other) const {
    return std::log(candidates_[one].speed / candidates_[other].speed);
  }
  double room(std::size_t one, std::size_t other) const {
    return room_between(candidates_[one], candidates_[other], launches_, candidates_.size());
  }

  /// The least of of() + sign * room() to those of the others that `counts` names.
  template <class Counts>
  double least(std::size_t one, double sign, Counts counts) const {
    double least = INFINITY;
    for (std::size_t other = 0; other < candidates_.size(); ++other)
      if (other != one && counts(other))
        least = std::min(least, of(one, other) + sign * room(one, other));
    return least;
  }

 private:
  const std::vector<Candidate>& candidates_;
  const LaunchVariance& launches_;
};

}  // namespace

LaunchVariance pooled_launch_variance(const std::vector<Candidate>& candidates) {
  PACELINE_ASSERT(candidates.size() > 1);
  std::vector<std::vector<double>> rows;
  for (const auto& candidate : candidates) rows.push_back(launch_deviations(candidate.strata));
  const std::size_t rounds = rows.front().size();
  PACELINE_ASSERT(rounds > 1);
  std::vector<double> of_round(rounds);
  for (const auto& row : rows)
    for (std::size_t l = 0; l < rounds; ++l)
      of_round[l] += (row[l] - mean(row)) / static_cast<double>(rows.size());
  double squares = 0;
  for (const auto& row : rows)
    for (std::size_t l = 0; l < rounds; ++l)
      squares += std::pow(row[l] - mean(row) - of_round[l], 2);
  const auto freedom = static_cast<double>((rows.size() - 1) * (rounds - 1));
  return {squares / freedom, freedom};
}

Ranking rank(const std::vector<Candidate>& candidates, const LaunchVariance& launches) {
  Ranking ranking;
  const auto slower = [](const auto& one, const auto& other) { return one.speed < other.speed; };
  const auto best = std::max_element(candidates.begin(), candidates.end(), slower);
  ranking.best = static_cast<std::size_t>(best - candidates.begin());
  ranking.reason = why_no_set(candidates);
  if (!ranking.reason.empty()) return ranking;
  const Differences differences(candidates, launches);
  const auto any = [](std::size_t) { return true; };
  std::vector<double> highest;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    highest.push_back(differences.least(i, 1, any));
  const auto in_set = [&](std::size_t i) { return highest[i] >= 0; };
  const bool one_alone =
      std::count_if(highest.begin(), highest.end(), [](double high) { return high >= 0; }) == 1;
  const auto method = fmt::format(
      "comparison with the best, one-sided t at {:.2f} % each over {} others, launches pooled",
      100 * single_level(candidates.size() - 1), candidates.size() - 1);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double value = differences.least(i, 0, any);
    const bool alone = one_alone && in_set(i);
    const double low = alone ? 0 : std::min(0.0, differences.least(i, -1, in_set));
    ranking.standings.push_back(
        {bounded(value, low, std::max(0.0, highest[i]), method, prompts_of(candidates[i])),
         in_set(i)});
  }
  return ranking;
}

bool is_surely_faster(const Candidate& one, const Candidate& other, const LaunchVariance& launches,
                      std::size_t candidates) {
  return why_no_set({one, other}).empty() &&
         std::log(one.speed / other.speed) > room_between(one, other, launches, candidates);
}

Estimate simultaneous_ratio(const Candidate& speed, const Candidate& base,
                            const LaunchVariance& launches, std::size_t comparisons) {
  Estimate estimate;
  estimate.value = speed.speed / base.speed;
  estimate.n = prompts_of(speed);
  estimate.reason = why_no_set({speed, base});
  if (!estimate.reason.empty()) return estimate;
  const auto [log_ratio, known] = ratio_of(speed, base, launches);
  const double half = half_width(known, single_level(comparisons));
  return bounded(
      log_ratio, log_ratio - half, log_ratio + half,
      fmt::format("t with {:.1f} degrees of freedom at {:.2f} % each of {}, launches "
                  "pooled over the points",
                  known.degrees_of_freedom, 100 * single_level(comparisons), comparisons),
      estimate.n);
}

Estimate simultaneous_speed(const Candidate& candidate, std::size_t comparisons) {
  Estimate estimate;
  estimate.value = candidate.speed;
  estimate.n = prompts_of(candidate);
  estimate.reason = why_no_set({candidate, candidate});
  if (!estimate.reason.empty()) return estimate;
  const auto known = spread(candidate.strata);
  PACELINE_ASSERT(known.has_value());
  const double half = half_width(*known, single_level(comparisons));
  const double centre = std::log(candidate.speed);
  return bounded(
      centre, centre - half, centre + half,
      fmt::format("t with {:.1f} degrees of freedom at {:.2f} % each of {}",
                  known->degrees_of_freedom, 100 * single_level(comparisons), comparisons),
      estimate.n);
}

}  // namespace paceline::metrics
