#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// The share of full drafts whose first i + 1 tokens are all accepted, for every place i of a
/// longest draft of `longest` tokens. Refuses a length or rates that no such draft can have.
util::Result<std::vector<double>> accept_rates(const trace::ForcedAcceptance& asked, int longest);

/// Draws how many tokens of each draft are accepted, so that a machine is timed at an acceptance
/// that is known.
class AcceptanceDraw {
 public:
  /// `rates` as accept_rates gives them.
  AcceptanceDraw(std::vector<double> rates, std::uint32_t seed);

  /// Accepted tokens of the next draft, which has `drafted`.
  int accepted(int drafted);

 private:
  std::vector<double> rates_;
  std::mt19937 random_;
};

}  // namespace paceline::worker
