#include "metrics/grid.hpp"

#include "util/assert.hpp"

namespace paceline::metrics {

Grid combine(double a, const Grid& first, double b, const Grid& second) {
  PACELINE_ASSERT(first.units == second.units && first.launches == second.launches);
  Grid result(first.units, first.launches);
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = a * first.values[i] + b * second.values[i];
  return result;
}

Grid scaled(double factor, const Grid& grid) {
  Grid result = grid;
  for (double& value : result.values) value *= factor;
  return result;
}

}  // namespace paceline::metrics
