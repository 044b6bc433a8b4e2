#pragma once

#include <cstddef>
#include <vector>

namespace paceline::metrics {

/// One number for each unit (family of prompts) in each launch.
struct Grid {
  std::size_t units = 0;
  std::size_t launches = 0;
  std::vector<double> values;  ///< units x launches, a unit's launches together

  Grid() = default;
  Grid(std::size_t unit_count, std::size_t launch_count)
      : units(unit_count), launches(launch_count), values(unit_count * launch_count) {}

  double& at(std::size_t unit, std::size_t launch) { return values[unit * launches + launch]; }
  double at(std::size_t unit, std::size_t launch) const { return values[unit * launches + launch]; }
};

/// a * first + b * second, cell by cell, of two grids of one shape.
Grid combine(double a, const Grid& first, double b, const Grid& second);

/// factor * grid.
Grid scaled(double factor, const Grid& grid);

}  // namespace paceline::metrics
