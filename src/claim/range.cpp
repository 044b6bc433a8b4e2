#include "claim/range.hpp"

#include <cmath>

namespace paceline::claim {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double arithmetic_error = 1e-9;

template <class Operation>
std::optional<double> of_values(const Range& a, const Range& b, Operation operation) {
  if (!a.value || !b.value) return std::nullopt;
  const double result = operation(*a.value, *b.value);
  return std::isfinite(result) ? std::optional(result) : std::nullopt;
}

/// 0 times no bound is no product of real figures.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

}  // namespace

Range exactly(double value) { return {value, value, value}; }

Range between(double low, double high) { return {std::nullopt, low, high}; }

Range at_least(double low) { return between(low, infinity); }

Range operator+(const Range& a, const Range& b) {
  return {of_values(a, b, [](double x, double y) { return x + y; }), a.low + b.low,
          a.high + b.high};
}

Range operator-(const Range& a, const Range& b) {
  return {of_values(a, b, [](double x, double y) { return x - y; }), a.low - b.high,
          a.high - b.low};
}

Range operator*(const Range& a, const Range& b) {
  return {of_values(a, b, [](double x, double y) { return x * y; }), times(a.low, b.low),
          times(a.high, b.high)};
}

Range operator/(const Range& a, const Range& b) {
  return {of_values(a, b, [](double x, double y) { return x / y; }),
          std::isinf(b.high) ? 0 : a.low / b.high, b.low > 0 ? a.high / b.low : infinity};
}

bool is_apart(const Range& a, const Range& b) {
  const double slack = arithmetic_error * (std::abs(a.low) + std::abs(b.low));
  return a.low > b.high + slack || b.low > a.high + slack;
}

std::optional<double> finite(double bound) {
  return std::isfinite(bound) ? std::optional(bound) : std::nullopt;
}

double middle(const Range& range) {
  if (range.value) return *range.value;
  if (std::isinf(range.high)) return range.low;
  return (range.low + range.high) / 2;
}

}  // namespace paceline::claim
