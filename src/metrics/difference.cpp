#include "metrics/difference.hpp"

#include <algorithm>

#include "metrics/interval.hpp"

namespace paceline::metrics {

namespace {

/// A mean square counts from so many times the error's on: below, it is taken for error (sometimes
/// pooling, a test at about 25 %, as Bozivich, Bancroft and Hartley 1956 advise). Found by `make
/// coverage-compare` to keep intervals at their 95 % whether launches differ or not.
constexpr double least_mean_square = 1.5;

/// Between single launches, of the figure that all classes make together.
double between_launches(const LogFigure& figure) {
  std::vector<double> sums(figure.front().launches);
  for (const auto& grid : figure) {
    const auto means = launch_means(grid);
    for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += means[l];
  }
  return sample_variance(sums);
}

bool fit(const LogFigure& a, const LogFigure& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&a](const Grid& one, const Grid& other) {
           return one.units == other.units && one.launches == other.launches &&
                  one.launches == a.front().launches;
         });
}

bool has_enough(const LogFigure& figure) {
  return !figure.empty() && std::all_of(figure.begin(), figure.end(), [](const Grid& grid) {
    return grid.units >= 2 && grid.launches >= fewest_launches;
  });
}

}  // namespace

Spread Difference::after(double launches) const {
  VarianceSum sum;
  double least = INFINITY;
  const auto add = [&](double term, double degrees_of_freedom) {
    sum.add(term, degrees_of_freedom);
    least = std::min(least, degrees_of_freedom);
  };
  for (const auto& side : sides_) add(side.variance / launches, side.arms * (launches - 1));
  double of_errors = 0;
  for (const auto& part : classes_) {
    const double cells = part.prompts * launches;
    const bool prompts_count = part.of_prompts > 0;
    const double of_error = (part.prompts - 1) * (launches - (prompts_count ? 1 : 0));
    // The error is in both mean squares and counts once.
    double times = sides_.empty() ? 1 : 0;
    if (prompts_count) {
      add((part.error + launches * part.of_prompts) / cells, part.prompts - 1);
      times -= 1;
    }
    if (times != 0) sum.add(times * part.error / cells, of_error);
    of_errors += of_error;
  }
  return sum.spread(std::min(least, of_errors));
}

Difference::OfClass Difference::of_class(const Grid& grid) {
  const auto prompts = static_cast<double>(grid.units);
  const auto launches = static_cast<double>(grid.launches);
  const auto squares = mean_squares(grid);
  if (squares.units > least_mean_square * squares.error)
    return {prompts, squares.error, (squares.units - squares.error) / launches};
  return {prompts, (squares.units + (launches - 1) * squares.error) / launches, 0};
}

std::optional<Difference> difference(const LogFigure& a, const LogFigure& b,
                                     const LogFigure& again) {
  if (!has_enough(a) || !fit(a, b) || (!again.empty() && !fit(a, again))) return std::nullopt;
  Difference result;
  result.launches_ = static_cast<double>(a.front().launches);
  double noise = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    result.classes_.push_back(Difference::of_class(combine(1, b[k], -1, a[k])));
    noise += result.classes_.back().error / result.classes_.back().prompts;
  }
  Difference::OfLaunches of_a{between_launches(a), 1};
  if (!again.empty()) of_a = {(of_a.variance + between_launches(again)) / 2, 2};
  const Difference::OfLaunches of_b{between_launches(b), 1};
  if (of_a.variance + of_b.variance > least_mean_square * noise) result.sides_ = {of_a, of_b};
  return result;
}

}  // namespace paceline::metrics
