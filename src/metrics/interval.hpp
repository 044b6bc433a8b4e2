#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/estimate.hpp"
#include "metrics/grid.hpp"
#include "metrics/variance.hpp"

namespace paceline::metrics {

/// Fewest families of prompts, and fewest equal prompts that they are worth, for an interval.
inline constexpr std::size_t fewest_families = 8;
inline constexpr double fewest_effective_prompts = 6;
/// Fewest launches for a claim about anything beyond the launches measured.
inline constexpr std::size_t fewest_launches = 3;

/// A class in a figure: the derivative of the figure's logarithm in each cell, and what it weighs.
/// A figure of one class has one stratum of weight 1; a mix has one a class.
struct Stratum {
  double weight = 1;
  Grid deviations;  ///< around the figure: their mean is 0
};

/// Variance between launches of a figure's launch means, where more is known of it than the
/// figure's own few launches tell.
struct LaunchVariance {
  double variance = 0;
  double degrees_of_freedom = 0;
};

/// Crossed random effects of units and launches without replication, the strata sharing their
/// launches (Searle, Casella, McCulloch: Variance Components, 4.3, degrees of freedom after
/// Satterthwaite 1946). Under 3 launches the launches are taken as given and only units vary.
/// Nothing when a stratum has under two units or no launch, or the strata differ in launches.
std::optional<Spread> spread(const std::vector<Stratum>& strata,
                             const std::optional<LaunchVariance>& known = std::nullopt);

/// The whole figure's deviation in each launch: the strata's launch means, weighted.
std::vector<double> launch_deviations(const std::vector<Stratum>& strata);

/// Why so few families of prompts, or prompts that are worth so few equal ones, have no interval;
/// empty where they are enough.
std::string too_few(std::size_t families, double n_eff);

/// Where an interval is made symmetric: positive figures on the log, proportions on the logit.
enum class Scale { log, logit };

/// `value` with its 95 % interval, or with the reason why it has none. `strata` are deviations of
/// the log of the value on either scale; n_eff is that of the stratum that has least.
Estimate with_interval(double value, Scale scale, const std::vector<Stratum>& strata, double n_eff);

/// The same of a positive figure of one stratum.
Estimate log_interval(double value, Grid deviations, double n_eff);

/// A plain arm emits one token a pass whatever the prompts: there is nothing to estimate.
Estimate exactly_one(const Grid& deviations);

/// Figures of single launches, all positive, averaged on the log scale with a t interval over the
/// launches. No interval under 3 launches; no value without one.
Estimate over_launches(const std::vector<double>& values);

}  // namespace paceline::metrics
