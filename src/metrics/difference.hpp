#pragma once

#include <optional>
#include <vector>

#include "metrics/grid.hpp"
#include "metrics/variance.hpp"

namespace paceline::metrics {

/// The logarithm of one arm's figure: its deviations in each cell, a grid a class, each times the
/// part that the class has in the figure.
using LogFigure = std::vector<Grid>;

/// Variance of the difference of two arms' figures on the logarithm. Prompts are the same on both
/// sides and pair; launches are loads of their own, so that each side's vary by themselves, and how
/// much they do is found for each side apart (as Welch 1947 has it, degrees of freedom after
/// Satterthwaite 1946). What all arms of a round share then makes the interval wider, never
/// narrower. A mean square that stands hardly above the error's shows nothing of its own and is
/// pooled with it, or left out.
class Difference {
 public:
  /// As it would be after so many launches of each, 3 or more, if all goes on like this.
  Spread after(double launches) const;
  double launches() const { return launches_; }

 private:
  friend std::optional<Difference> difference(const LogFigure& a, const LogFigure& b,
                                              const LogFigure& again);

  struct OfLaunches {
    double variance = 0;  ///< between single launches of one side
    double arms = 1;      ///< whose launches tell it
  };
  struct OfClass {
    double prompts = 0;
    double error = 0;       ///< variance of one cell of the difference
    double of_prompts = 0;  ///< variance between prompts beyond it; 0: none shows
  };

  static OfClass of_class(const Grid& grid);

  double launches_ = 0;
  std::vector<OfLaunches> sides_;  ///< empty: no more between launches than cells explain
  std::vector<OfClass> classes_;
};

/// Of b less a, in the same cells of 3 or more launches; `again` has more launches of a's settings,
/// or is empty. Nothing where cells are too few or do not fit.
std::optional<Difference> difference(const LogFigure& a, const LogFigure& b,
                                     const LogFigure& again);

}  // namespace paceline::metrics
