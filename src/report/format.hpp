#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/known.hpp"

namespace paceline::report {

/// How a figure is shown: multiplied, and with something behind it.
struct Unit {
  double scale = 1;
  const char* suffix = "";
};
inline constexpr Unit plain_unit{};
inline constexpr Unit times{1, "x"};
inline constexpr Unit percent{100, " %"};
inline constexpr Unit milliseconds{1000, ""};

/// Three figures, more before the point where there are more: 0.87, 46.7, 1234.
std::string figure(double value);

/// "46.7 [44.1-49.2]", or "46.7 ±2.6" where both sides are equally far; only the value where
/// `interval` is off, there is none or it has no width. The quantity must have a value.
std::string with_interval(const document::Quantity& quantity, Unit unit, bool interval);

/// "13.2 MB" of 1000 kB each, as files and memory of models are commonly given.
std::string bytes(std::uint64_t count);

/// "512 KiB" of 1024 B each, as caches and memory of machines are commonly given.
std::string binary_bytes(std::uint64_t count);

/// "5.61 M" of something that is counted, in steps of 1000.
std::string short_count(std::uint64_t count);

/// "a, b and c".
std::string listed(const std::vector<std::string>& items);

}  // namespace paceline::report
