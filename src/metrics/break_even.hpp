#pragma once

#include <optional>
#include <string>

#include "metrics/summary.hpp"

namespace paceline::metrics {

/// What verifying a draft costs by its length, without a drafter: seconds of a pass of width K + 1
/// over those of width 1, at one depth. Nothing where either was not timed.
std::optional<double> verify_cost(const WidthCurve& plain, int draft_length);

/// Share of that draft that has to be accepted to pay for it, 1 + K a = cost; above 1: none does.
/// Nothing likewise, and for K below 1.
std::optional<double> acceptance_needed(const WidthCurve& plain, int draft_length);

/// The longest draft whose verification alone costs no more than so many tokens per pass bring in;
/// a drafter that takes time lowers it. 0: not even one token. Nothing where width 1 or 2 was not
/// timed. `is_lower_bound`: the widest pass timed pays too.
struct BreakEven {
  int draft_length = 0;
  bool is_lower_bound = false;
};
std::optional<BreakEven> break_even(const WidthCurve& plain, double tokens_per_pass);

}  // namespace paceline::metrics
