#include "metrics/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metrics/arithmetic.hpp"
#include "util/assert.hpp"

namespace paceline::metrics {

namespace {

constexpr double confidence = 0.95;

Spread spread_over_units(const std::vector<Stratum>& strata) {
  VarianceSum sum;
  double least = INFINITY;
  for (const auto& [weight, grid] : strata) {
    const auto means = unit_means(grid);
    const auto units = static_cast<double>(grid.units);
    sum.add(weight * weight * sample_variance(means) / units, units - 1);
    least = std::min(least, units - 1);
  }
  return sum.spread(least);
}

/// Variance between launches of the whole figure's launch means. It can't be less than what the
/// cells' own noise leaves in them: where it is by chance, that noise stands in.
LaunchVariance launch_variance(const std::vector<Stratum>& strata,
                               const std::vector<MeanSquares>& squares) {
  double noise = 0;
  for (std::size_t k = 0; k < strata.size(); ++k)
    noise += strata[k].weight * strata[k].weight * squares[k].error /
             static_cast<double>(strata[k].deviations.units);
  const auto figure = launch_deviations(strata);
  const auto freedom = static_cast<double>(figure.size()) - 1;
  return {std::max(sample_variance(figure), noise), freedom};
}

/// (MS_prompts + MS_launches - MS_error) / (prompts x launches), summed over the strata. A mean
/// square that chance left below the error's stands at the error's and keeps its own few degrees
/// of freedom: three launches that happen to agree do not prove that launches do.
Spread spread_over_units_and_launches(const std::vector<Stratum>& strata,
                                      const std::optional<LaunchVariance>& known) {
  std::vector<MeanSquares> squares;
  for (const auto& stratum : strata) squares.push_back(mean_squares(stratum.deviations));
  const auto launches = static_cast<double>(strata.front().deviations.launches);
  const LaunchVariance between = known.value_or(launch_variance(strata, squares));
  VarianceSum sum;
  sum.add(between.variance / launches, between.degrees_of_freedom);
  double least = between.degrees_of_freedom;
  for (std::size_t k = 0; k < strata.size(); ++k) {
    const auto units = static_cast<double>(strata[k].deviations.units);
    const double share = strata[k].weight * strata[k].weight / (units * launches);
    sum.add(share * std::max(squares[k].units, squares[k].error), units - 1);
    sum.add(-share * squares[k].error, (units - 1) * (launches - 1));
    least = std::min(least, units - 1);
  }
  return sum.spread(least);
}

void set_interval(Estimate& estimate, Scale scale, double half) {
  const double value = *estimate.value;
  if (scale == Scale::log) {
    estimate.low = value * std::exp(-half);
    estimate.high = value * std::exp(half);
  } else {
    // d logit = d log / (1 - value)
    const double odds = value / (1 - value);
    const double low = odds * std::exp(-half / (1 - value));
    estimate.low = low / (1 + low);
    // Written by 1 / odds, which goes to 0 where the odds would overflow.
    estimate.high = 1 / (1 + std::exp(-half / (1 - value)) / odds);
  }
  if (std::isfinite(*estimate.low) && std::isfinite(*estimate.high)) return;
  estimate.low.reset();
  estimate.high.reset();
  estimate.reason = "the interval is too wide to be written";
}

std::string reason_against_interval(double value, Scale scale, const std::vector<Stratum>& strata,
                                    double n_eff) {
  for (const auto& stratum : strata)
    if (auto reason = too_few(stratum.deviations.units, n_eff); !reason.empty()) return reason;
  if (value <= 0 || (scale == Scale::logit && value >= 1))
    return fmt::format("always {:g}: no spread to make an interval from", value);
  return "";
}

}  // namespace

std::string too_few(std::size_t families, double n_eff) {
  if (families < fewest_families)
    return fmt::format("too few: {} independent prompts, an interval needs {}", families,
                       fewest_families);
  if (n_eff < fewest_effective_prompts)
    return fmt::format(
        "too few: the prompts are worth {:.1f} prompts of equal length, an interval needs {}",
        n_eff, fewest_effective_prompts);
  return "";
}

std::vector<double> launch_deviations(const std::vector<Stratum>& strata) {
  PACELINE_ASSERT(!strata.empty());
  std::vector<double> figure(strata.front().deviations.launches);
  for (const auto& [weight, grid] : strata) {
    const auto means = launch_means(grid);
    for (std::size_t launch = 0; launch < figure.size(); ++launch)
      figure[launch] += weight * means[launch];
  }
  return figure;
}

std::optional<Spread> spread(const std::vector<Stratum>& strata,
                             const std::optional<LaunchVariance>& known) {
  if (strata.empty()) return std::nullopt;
  const auto launches = strata.front().deviations.launches;
  for (const auto& stratum : strata) {
    const auto& grid = stratum.deviations;
    if (grid.units < 2 || grid.launches == 0 || grid.launches != launches) return std::nullopt;
  }
  return launches < fewest_launches ? spread_over_units(strata)
                                    : spread_over_units_and_launches(strata, known);
}

Estimate with_interval(double value, Scale scale, const std::vector<Stratum>& strata,
                       double n_eff) {
  PACELINE_ASSERT(!strata.empty());
  Estimate estimate;
  estimate.value = value;
  for (const auto& stratum : strata) estimate.n += static_cast<int>(stratum.deviations.units);
  estimate.reason = reason_against_interval(value, scale, strata, n_eff);
  if (!estimate.reason.empty()) return estimate;
  const auto deviation = spread(strata);
  PACELINE_ASSERT(deviation.has_value());
  if (deviation->standard_error <= 0) {
    estimate.reason = "no spread between prompts or launches to make an interval from";
    return estimate;
  }
  const bool across_launches = strata.front().deviations.launches >= fewest_launches;
  estimate.level = across_launches ? "95 % over prompts and launches" : "95 % within this launch";
  estimate.method =
      fmt::format("t with {:.1f} degrees of freedom on {} of {}", deviation->degrees_of_freedom,
                  scale == Scale::log ? "the logarithm" : "the logit",
                  across_launches ? "crossed prompts x launches" : "prompts");
  set_interval(estimate, scale, half_width(*deviation, confidence));
  return estimate;
}

Estimate log_interval(double value, Grid deviations, double n_eff) {
  return with_interval(value, Scale::log, {Stratum{1, std::move(deviations)}}, n_eff);
}

Estimate exactly_one(const Grid& deviations) {
  Estimate one;
  one.value = one.low = one.high = 1;
  one.method = "by construction: no drafter";
  one.level = "exact";
  one.n = static_cast<int>(deviations.units);
  return one;
}

Estimate over_launches(const std::vector<double>& values) {
  if (values.empty()) return unknown("no launch measured it");
  std::vector<double> logs;
  for (const double value : values) {
    if (value <= 0) return unknown("a measured time was not above zero");
    logs.push_back(std::log(value));
  }
  Estimate estimate;
  estimate.value = std::exp(mean(logs));
  estimate.n = static_cast<int>(values.size());
  if (values.size() < fewest_launches) {
    estimate.reason = fmt::format("too few: {} launch{}, an interval needs {}", values.size(),
                                  values.size() == 1 ? "" : "es", fewest_launches);
    return estimate;
  }
  const auto launches = static_cast<double>(values.size());
  const double variance = sample_variance(logs) / launches;
  estimate.level = "95 % over launches";
  estimate.method = fmt::format("t with {} degrees of freedom on the logarithm of launch figures",
                                values.size() - 1);
  set_interval(estimate, Scale::log, half_width({std::sqrt(variance), launches - 1}, confidence));
  return estimate;
}

}  // namespace paceline::metrics
