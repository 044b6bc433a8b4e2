#include "document/claim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace paceline::document {

namespace {

constexpr double tiny = 1e-9;

std::string with_three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 1e15) return fmt::format("{:.3g}", value);
  if (size >= 1000 || std::abs(value - std::round(value)) <= tiny * size)
    return fmt::format("{:.0f}", value);
  if (size < 1) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, size < 100 ? 2 : 1);
}

/// As many digits as the width of what it can be allows: 12.45 where it is 12.443 to 12.449; three
/// where it allows fewer.
std::string to_the_digit(double value, double width) {
  const int decimals = width > 0 ? static_cast<int>(std::floor(-std::log10(width))) : -1;
  const double size = std::abs(value);
  if (decimals < 1 || (size < 10 && decimals < 2) || size < 1) return with_three_digits(value);
  return fmt::format("{:.{}f}", value, std::min(decimals, 4));
}

}  // namespace

std::string figure_text(std::optional<double> value, std::optional<double> low,
                        std::optional<double> high) {
  if (value) return to_the_digit(*value, high.value_or(*value) - low.value_or(*value));
  const bool has_low = low && *low > 0;
  if (has_low && high) return with_three_digits(*low) + " to " + with_three_digits(*high);
  if (high) return "at most " + with_three_digits(*high);
  return "at least " + with_three_digits(low.value_or(0));
}

}  // namespace paceline::document
