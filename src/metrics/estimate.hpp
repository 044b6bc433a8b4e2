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
  std::string level;   ///< "95 % over prompts and launches" or "95 % within this launch"
  std::string method;  ///< how the interval was made
  int n = 0;           ///< prompts (families) behind it
  std::string reason;  ///< why there is no value, or no interval
};

/// A figure that cannot be given.
inline Estimate unknown(std::string reason) {
  Estimate estimate;
  estimate.reason = std::move(reason);
  return estimate;
}

}  // namespace paceline::metrics
