#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/estimate.hpp"

namespace paceline::metrics {

/// One arm against plain at one level of concurrency.
struct CrossoverLevel {
  int level = 0;
  Estimate ratio;       ///< of tokens per second, over plain's at the same level
  std::string verdict;  ///< "pays", "stops paying", "cannot tell" or "not measured"
};

/// Where speculation stops paying (DEFINITIONS 5).
struct Crossover {
  std::string arm;
  std::optional<int> level;  ///< the lowest at which it surely costs; absent: none was seen
  std::string says;          ///< the result in a sentence
  std::vector<CrossoverLevel> levels;
};

/// Tokens per second at one level of an arm and of plain, by round; `reason` says why one has none.
struct LevelRates {
  int level = 0;
  std::map<int, double> arm;
  std::map<int, double> plain;
  std::string reason;
};

/// A ratio surely above 1 pays, one surely below stops paying, and one whose interval holds 1, or
/// that has none, cannot tell.
Crossover find_crossover(const std::string& arm, const std::vector<LevelRates>& levels);

}  // namespace paceline::metrics
