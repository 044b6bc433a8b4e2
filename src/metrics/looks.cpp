#include "metrics/looks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace paceline::metrics {

namespace {

constexpr double error = 0.05;

/// Error spent once a share of all launches is done.
double spent(double share) { return error * std::log1p((std::numbers::e - 1) * share); }

}  // namespace

double confidence_after(int rounds, const std::vector<int>& looks) {
  if (looks.empty()) return 1 - error;
  const auto found = std::lower_bound(looks.begin(), looks.end(), rounds);
  const auto look = found == looks.end() ? std::prev(looks.end()) : found;
  const auto share = [&](int launches) { return static_cast<double>(launches) / looks.back(); };
  return 1 - (spent(share(*look)) - (look == looks.begin() ? 0 : spent(share(*std::prev(look)))));
}

}  // namespace paceline::metrics
