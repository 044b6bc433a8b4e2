#include "metrics/weighted.hpp"

#include "util/assert.hpp"

namespace paceline::metrics {

FigureSum weighted_sum(const std::vector<WeightedFigure>& parts) {
  FigureSum sum;
  for (const auto& [weight, figure] : parts) sum.value += weight * figure.value;
  for (const auto& [weight, figure] : parts)
    sum.strata.push_back({weight * figure.value / sum.value, figure.deviations});
  return sum;
}

std::vector<Stratum> scaled(double factor, std::vector<Stratum> strata) {
  for (auto& stratum : strata) stratum.weight *= factor;
  return strata;
}

std::vector<Stratum> difference(const std::vector<Stratum>& first,
                                const std::vector<Stratum>& second) {
  PACELINE_ASSERT(first.size() == second.size());
  std::vector<Stratum> strata;
  for (std::size_t k = 0; k < first.size(); ++k)
    strata.push_back({1, combine(first[k].weight, first[k].deviations, -second[k].weight,
                                 second[k].deviations)});
  return strata;
}

}  // namespace paceline::metrics
