#include "metrics/variance.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <numeric>

#include "metrics/arithmetic.hpp"

namespace paceline::metrics {

double sum_of_squares(const std::vector<double>& values, double centre) {
  return std::accumulate(values.begin(), values.end(), 0.0, [centre](double sum, double value) {
    return sum + (value - centre) * (value - centre);
  });
}

std::vector<double> unit_means(const Grid& grid) {
  std::vector<double> means(grid.units);
  for (std::size_t unit = 0; unit < grid.units; ++unit) {
    for (std::size_t launch = 0; launch < grid.launches; ++launch)
      means[unit] += grid.at(unit, launch) / static_cast<double>(grid.launches);
  }
  return means;
}

std::vector<double> launch_means(const Grid& grid) {
  std::vector<double> means(grid.launches);
  for (std::size_t launch = 0; launch < grid.launches; ++launch) {
    for (std::size_t unit = 0; unit < grid.units; ++unit)
      means[launch] += grid.at(unit, launch) / static_cast<double>(grid.units);
  }
  return means;
}

double sample_variance(const std::vector<double>& values) {
  return sum_of_squares(values, mean(values)) / (static_cast<double>(values.size()) - 1);
}

MeanSquares mean_squares(const Grid& grid) {
  const auto by_unit = unit_means(grid);
  const auto by_launch = launch_means(grid);
  const double centre = mean(by_unit);
  const auto units = static_cast<double>(grid.units);
  const auto launches = static_cast<double>(grid.launches);
  double error = 0;
  for (std::size_t unit = 0; unit < grid.units; ++unit) {
    for (std::size_t launch = 0; launch < grid.launches; ++launch) {
      const double rest = grid.at(unit, launch) - by_unit[unit] - by_launch[launch] + centre;
      error += rest * rest;
    }
  }
  return {launches * sum_of_squares(by_unit, centre) / (units - 1),
          error / ((units - 1) * (launches - 1))};
}

double half_width(const Spread& spread, double confidence) {
  const boost::math::students_t_distribution<double> student(spread.degrees_of_freedom);
  return spread.standard_error * boost::math::quantile(student, (1 + confidence) / 2);
}

void VarianceSum::add(double term, double degrees_of_freedom) {
  variance += term;
  uncertainty += term * term / degrees_of_freedom;
}

Spread VarianceSum::spread(double least_degrees_of_freedom) const {
  if (variance <= 0) return {0, least_degrees_of_freedom};
  return {std::sqrt(variance),
          std::max(least_degrees_of_freedom, variance * variance / uncertainty)};
}

}  // namespace paceline::metrics
