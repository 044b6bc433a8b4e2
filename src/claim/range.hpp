#pragma once

#include <limits>
#include <optional>

namespace paceline::claim {

/// All that the digits of a figure can mean: bounds, infinite where there is none, and the value
/// that was written, where one was. Figures are not negative unless said otherwise.
struct Range {
  std::optional<double> value;
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
};

/// A count, or anything else without rounding.
Range exactly(double value);
/// Known by its bounds only.
Range between(double low, double high);
Range at_least(double low);

Range operator+(const Range& a, const Range& b);
Range operator-(const Range& a, const Range& b);
Range operator*(const Range& a, const Range& b);  ///< of figures that are not negative
Range operator/(const Range& a, const Range& b);  ///< likewise; dividing by 0 has no upper bound

/// True when no number is in both, a rounding error of the arithmetic apart.
bool is_apart(const Range& a, const Range& b);

/// A bound as documents have it: absent where there is none.
std::optional<double> finite(double bound);

/// The value, or the middle of what is finite of the bounds: for sorting and for naming a number,
/// never for deriving.
double middle(const Range& range);

}  // namespace paceline::claim
