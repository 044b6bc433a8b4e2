#pragma once

#include <optional>
#include <string>
#include <utility>

namespace paceline::document {

/// A fact, or the reason why it is not known. Absent is never zero.
template <class T>
struct Known {
  std::optional<T> value;
  std::string reason;  ///< one sentence; empty exactly when there is a value
};

template <class T>
Known<T> known(T value) {
  return {std::move(value), {}};
}

template <class T>
Known<T> not_known(std::string reason) {
  return {std::nullopt, std::move(reason)};
}

template <class T>
Known<T> known_or(std::optional<T> value, std::string reason) {
  if (value) return known(std::move(*value));
  return not_known<T>(std::move(reason));
}

/// A figure with its interval. Without a value, or with a value and no interval, `reason` says why.
struct Quantity {
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
  std::string level;   ///< what the interval covers, as in "95 % over prompts and launches"
  std::string method;  ///< how the interval was made
  int n = 0;           ///< prompts behind the figure
  std::string reason;
};

inline Quantity no_quantity(std::string reason) {
  Quantity quantity;
  quantity.reason = std::move(reason);
  return quantity;
}

}  // namespace paceline::document
