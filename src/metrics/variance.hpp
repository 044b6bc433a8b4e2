#pragma once

#include <cmath>
#include <vector>

#include "metrics/grid.hpp"

// What intervals are made of: means and mean squares of the two-way layout that a grid is.

namespace paceline::metrics {

double sum_of_squares(const std::vector<double>& values, double centre);

std::vector<double> unit_means(const Grid& grid);
std::vector<double> launch_means(const Grid& grid);

/// Variance of the mean of so many values, times their number: their sample variance.
double sample_variance(const std::vector<double>& values);

/// Mean squares of the two-way layout that one grid is: two units and launches, or more.
struct MeanSquares {
  double units = 0;
  double error = 0;
};

MeanSquares mean_squares(const Grid& grid);

/// Standard error of a mean, and how well it is known.
struct Spread {
  double standard_error = 0;
  double degrees_of_freedom = 0;
};

/// Half the width of a two-sided interval of that confidence, 0.95 or another, by Student's t.
double half_width(const Spread& spread, double confidence);

/// A variance as a sum of independent mean squares, for Satterthwaite's approximation (1946).
struct VarianceSum {
  double variance = 0;
  double uncertainty = 0;  ///< sum of (coefficient * mean square)^2 / degrees of freedom

  void add(double term, double degrees_of_freedom);
  Spread spread(double least_degrees_of_freedom) const;
};

}  // namespace paceline::metrics
