#include "metrics/crossover.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "metrics/interval.hpp"

namespace paceline::metrics {

namespace {

constexpr const char* pays = "pays";
constexpr const char* stops = "stops paying";
constexpr const char* unclear = "cannot tell";
constexpr const char* unmeasured = "not measured";

CrossoverLevel compare(const LevelRates& rates) {
  CrossoverLevel result;
  result.level = rates.level;
  result.verdict = unmeasured;
  result.ratio = unknown(rates.reason);
  if (!rates.reason.empty()) return result;
  std::vector<double> ratios;
  for (const auto& [round, rate] : rates.arm)
    if (const auto plain = rates.plain.find(round); plain != rates.plain.end())
      ratios.push_back(rate / plain->second);
  if (ratios.empty()) {
    result.ratio = unknown("no round measured both this arm and plain");
    return result;
  }
  result.ratio = over_launches(ratios);
  const auto& [value, low, high, level, method, n, reason] = result.ratio;
  result.verdict = low && *low > 1 ? pays : high && *high < 1 ? stops : unclear;
  return result;
}

std::vector<int> levels_of(const std::vector<CrossoverLevel>& levels, std::string_view verdict) {
  std::vector<int> found;
  for (const auto& one : levels)
    if (one.verdict == verdict) found.push_back(one.level);
  return found;
}

std::string sentence(const std::vector<CrossoverLevel>& levels) {
  std::vector<std::string> parts;
  const auto stopping = levels_of(levels, stops);
  const auto paying = levels_of(levels, pays);
  if (paying.size() == levels.size()) return "pays at every level measured";
  if (!stopping.empty()) parts.push_back(fmt::format("stops paying at {}", stopping.front()));
  if (!paying.empty()) parts.push_back(fmt::format("pays at {}", fmt::join(paying, ", ")));
  for (const char* verdict : {unclear, unmeasured})
    if (const auto such = levels_of(levels, verdict); !such.empty())
      parts.push_back(fmt::format("{} at {}", verdict, fmt::join(such, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

Crossover find_crossover(const std::string& arm, const std::vector<LevelRates>& levels) {
  Crossover crossover;
  crossover.arm = arm;
  for (const auto& rates : levels) crossover.levels.push_back(compare(rates));
  const auto stopping = levels_of(crossover.levels, stops);
  if (!stopping.empty()) crossover.level = stopping.front();
  crossover.says = sentence(crossover.levels);
  return crossover;
}

}  // namespace paceline::metrics
