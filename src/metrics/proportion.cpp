#include "metrics/proportion.hpp"

#include <cmath>

#include "util/assert.hpp"

namespace paceline::metrics {

namespace {

constexpr double normal_quantile = 1.959963984540054;  // 97.5 %

}  // namespace

Estimate proportion(int part, int whole) {
  PACELINE_ASSERT(part >= 0 && part <= whole);
  if (whole == 0) return unknown("nothing was tried");
  const double n = whole;
  const double observed = part / n;
  const double z2 = normal_quantile * normal_quantile;
  const double centre = (observed + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      normal_quantile * std::sqrt(observed * (1 - observed) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  Estimate estimate;
  estimate.value = observed;
  estimate.low = part == 0 ? 0 : centre - half;  // exact, where the difference is only nearly 0
  estimate.high = part == whole ? 1 : centre + half;
  estimate.level = "95 % over questions";
  estimate.method = "Wilson";
  estimate.n = whole;
  return estimate;
}

double share(std::int64_t part, std::int64_t whole) {
  PACELINE_ASSERT(whole > 0 && part >= 0 && part <= whole);
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace paceline::metrics
