#include "metrics/break_even.hpp"

#include <algorithm>

namespace paceline::metrics {

namespace {

std::optional<double> verify_seconds(const WidthCurve& curve, int width) {
  for (const auto& cost : curve.widths)
    if (cost.width == width) return cost.verify_s.value;
  return std::nullopt;
}

}  // namespace

std::optional<double> verify_cost(const WidthCurve& plain, int draft_length) {
  const auto narrow = verify_seconds(plain, 1);
  const auto wide = verify_seconds(plain, draft_length + 1);
  if (!narrow || !wide || !(*narrow > 0)) return std::nullopt;
  return *wide / *narrow;
}

std::optional<double> acceptance_needed(const WidthCurve& plain, int draft_length) {
  const auto cost = verify_cost(plain, draft_length);
  if (!cost || draft_length < 1) return std::nullopt;
  return (*cost - 1) / draft_length;
}

std::optional<BreakEven> break_even(const WidthCurve& plain, double tokens_per_pass) {
  if (!verify_cost(plain, 1)) return std::nullopt;
  int longest = 0;
  for (const auto& cost : plain.widths) longest = std::max(longest, cost.width - 1);
  BreakEven found;
  for (int length = 1; length <= longest; ++length) {
    const auto cost = verify_cost(plain, length);
    if (cost && *cost <= tokens_per_pass) found = {length, length == longest};
  }
  return found;
}

}  // namespace paceline::metrics
