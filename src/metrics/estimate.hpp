#pragma once

#include <optional>
#include <string>

namespace paceline::metrics {

/// A figure with its 95 % interval. A figure that cannot be given has no value and a reason; one
/// that has a value and too little data for an interval has no low and high, and a reason.
struct Estimate {
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  /// "95 % over prompts and launches", "95 % within this launch", "95 % over launches" (probes: no
  /// prompt is behind them), "95 % over questions" or "exact" (low = high = value, by
  /// construction); empty: no interval
  std::string level;
  std::string method;  ///< how the interval was made
  int n = 0;           ///< prompts (families) behind it; launches where the level says so
  std::string reason;  ///< why there is no value, or no interval
};

/// A figure that cannot be given.
inline Estimate unknown(std::string reason) {
  Estimate estimate;
  estimate.reason = std::move(reason);
  return estimate;
}

}  // namespace paceline::metrics
