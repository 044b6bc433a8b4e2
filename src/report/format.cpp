#include "report/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "util/assert.hpp"

namespace paceline::report {

namespace {

int decimals_of(double value) {
  // Rounding may add a digit: 9.996 is 10.0 and not 10.00.
  const double size = std::fabs(value);
  if (size >= 99.95) return 0;
  return size >= 9.995 ? 1 : 2;
}

std::string rounded(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  // A rounded-off negative is a plain zero.
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string scaled(std::uint64_t count, double base, const std::array<const char*, 5>& units) {
  auto amount = static_cast<double>(count);
  std::size_t unit = 0;
  // From here on three figures would show the base itself.
  while (amount >= base - 0.5 && unit + 1 < units.size()) {
    amount /= base;
    ++unit;
  }
  const bool whole = unit == 0 || !(std::fabs(amount - std::round(amount)) > 0);
  return (whole ? fmt::format("{:.0f}", amount) : figure(amount)) + " " + units[unit];
}

}  // namespace

std::string figure(double value) { return rounded(value, decimals_of(value)); }

std::string with_interval(const document::Quantity& quantity, Unit unit, bool interval) {
  PACELINE_ASSERT(quantity.value.has_value());
  const double value = *quantity.value * unit.scale;
  const int decimals = decimals_of(value);
  std::string shown = rounded(value, decimals) + unit.suffix;
  if (!interval || !quantity.low || !quantity.high) return shown;
  const bool exact = !(*quantity.low < *quantity.high);
  if (exact) return shown;
  const double low = *quantity.low * unit.scale;
  const double high = *quantity.high * unit.scale;
  const std::string below = rounded(value - low, decimals);
  const std::string above = rounded(high - value, decimals);
  if (below == above) return shown + " ±" + above;
  const char* dash = low < 0 ? " to " : "-";
  return shown + " [" + rounded(low, decimals) + dash + rounded(high, decimals) + "]";
}

std::string bytes(std::uint64_t count) {
  return scaled(count, 1000, {"B", "kB", "MB", "GB", "TB"});
}

std::string binary_bytes(std::uint64_t count) {
  return scaled(count, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string short_count(std::uint64_t count) {
  if (count < 1000) return std::to_string(count);
  return scaled(count, 1000, {"", "k", "M", "G", "T"});
}

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t index = 0; index < items.size(); ++index) {
    if (index > 0) text += index + 1 == items.size() ? " and " : ", ";
    text += items[index];
  }
  return text;
}

}  // namespace paceline::report
