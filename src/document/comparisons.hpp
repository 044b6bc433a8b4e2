#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/known.hpp"

namespace paceline::document {

/// Ratios of B's figures to A's; tokens_per_s is the product of the others.
struct Ratios {
  Quantity tokens_per_s;
  Quantity passes_per_s;
  Quantity tokens_per_pass;
};

/// Figures of one launch of one arm, on the prompts that all launches have.
struct LaunchFigures {
  std::string arm;
  int round = 0;  ///< from 0
  double tokens_per_s = 0;
  Known<double> passes_per_s;
  Known<double> tokens_per_pass;
};

/// How much B may be slower than A, and whether it is. Shares are of A's tokens per second.
struct Limit {
  double slower_by = 0;
  std::string verdict;  ///< kept, broken, cannot tell
};

/// B over A, and A measured again over A; `workload_class` has the key "class".
struct Comparison {
  std::optional<std::string> workload_class;  ///< absent: all classes of the mix by its shares
  std::string a;
  std::string b;
  std::string a_says;  ///< what was asked of A alone
  std::string b_says;
  int launches = 0;  ///< of each arm
  double margin = 0;
  Ratios ratios;
  Ratios again;
  Known<double> again_spread;
  std::string verdict;         ///< faster, slower, same, cannot tell, too few, unpaired
  Known<std::string> because;  ///< why nothing is told
  Known<int> launches_needed;
  Known<double> power;
  Known<Limit> limit;
  std::vector<int> looks;
  std::vector<LaunchFigures> launch_figures;
};

}  // namespace paceline::document
