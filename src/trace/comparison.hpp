#pragma once

#include <optional>
#include <string>
#include <vector>

namespace paceline::trace {

/// Which arms of a run are held against one another and how the verdict is found, fixed before it.
/// Shares are of A's tokens per second: 0.02 is 2 %.
struct Comparison {
  std::string a;         ///< arm; its figures are the denominators
  std::string b;         ///< arm
  std::string again;     ///< arm with A's settings: what differs between it and A is noise
  std::string a_says;    ///< what the user said of A alone, for people; may be empty
  std::string b_says;    ///< likewise
  double margin = 0.02;  ///< differences under this share are none
  std::optional<double> fail_if_slower;  ///< share of A's speed that B may be slower by
  std::vector<int> looks;  ///< launches after which the verdict is looked for, ascending;
                           ///< empty: at the end alone
};

}  // namespace paceline::trace
