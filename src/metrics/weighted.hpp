#pragma once

#include <vector>

#include "metrics/interval.hpp"
#include "metrics/sample.hpp"

namespace paceline::metrics {

/// A figure of one class and what it weighs in a sum over classes.
struct WeightedFigure {
  double weight = 0;
  Figure figure;
};

/// A sum of figures, and the deviations of its logarithm, a stratum a class.
struct FigureSum {
  double value = 0;
  std::vector<Stratum> strata;
};

/// The figures must be above zero.
FigureSum weighted_sum(const std::vector<WeightedFigure>& parts);

/// Strata of factor * the logarithm.
std::vector<Stratum> scaled(double factor, std::vector<Stratum> strata);

/// Strata of the difference of two logarithms, of sums over the same classes, prompts and launches.
std::vector<Stratum> difference(const std::vector<Stratum>& first,
                                const std::vector<Stratum>& second);

}  // namespace paceline::metrics
