#include "metrics/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "metrics/interval.hpp"

namespace paceline::metrics {

namespace {

/// Studies with more launches of each arm are not proposed.
constexpr int most_launches = 200;
constexpr double wanted_power = 0.8;
/// So many that what is left is what no number of launches takes away.
constexpr double endless_launches = 1e9;

/// How sure the difference of two arms is after so many launches, on the logarithm.
struct Sureness {
  double wide = 0;    ///< half the width of the interval that tells B from A
  double narrow = 0;  ///< of the one of two one-sided tests, each at the whole error
  double again = 0;   ///< half the width of A again over A: effects under it are none
};

Sureness sureness(const Grounds& grounds, double launches) {
  const Spread spread = grounds.of_b->after(launches);
  return {half_width(spread, grounds.confidence), half_width(spread, 2 * grounds.confidence - 1),
          half_width(grounds.of_again->after(launches), grounds.confidence)};
}

bool tells_apart(double distance, const Sureness& sure) {
  return std::abs(distance) > std::max(sure.wide, sure.again);
}

bool within(double effect, double margin, const Sureness& sure) {
  return std::abs(effect) + sure.narrow <= std::log1p(margin);
}

/// A's own spread must not hide a difference of the margin.
bool tells_same(double effect, double margin, const Sureness& sure) {
  return within(effect, margin, sure) && sure.again <= std::log1p(margin);
}

std::string percent(double log_ratio) {
  return fmt::format("{:+.1f} %", 100 * std::expm1(log_ratio));
}

/// Why no finding can be had of the data at all; empty where one can.
std::string reason_against(const Comparison& comparison) {
  const Estimate& ratio = comparison.ratios.tokens_per_s;
  if (!ratio.low) return ratio.reason;
  if (static_cast<std::size_t>(comparison.launches) < fewest_launches)
    return fmt::format("too few: {} launch{} of each arm, a claim needs {}", comparison.launches,
                       comparison.launches == 1 ? "" : "es", fewest_launches);
  return "";
}

/// Why the run's own check forbids a finding; empty where it does not.
std::string broken_check(const Comparison& comparison, const Sureness& sure) {
  const Estimate& again = comparison.again.tokens_per_s;
  if (!again.value) return "A was not measured again: " + again.reason;
  const double effect = std::log(*again.value);
  if (std::abs(effect) <= sure.again) return "";
  return fmt::format(
      "A again differs from A by {}, more than its interval allows: something else "
      "changed during the run",
      percent(effect));
}

std::string undecided(double effect, double margin, const Sureness& sure) {
  if (std::abs(effect) > sure.wide)
    return fmt::format("{} is less than A again may differ from A by chance, {:.1f} %",
                       percent(effect), 100 * std::expm1(sure.again));
  if (within(effect, margin, sure))
    return fmt::format(
        "A again may differ from A by chance by {:.1f} %, more than the margin of {:g} %",
        100 * std::expm1(sure.again), 100 * margin);
  return fmt::format("the interval reaches from slower to faster and beyond the margin of {:g} %",
                     100 * margin);
}

/// Chance that a true difference would be told after so many launches, by Student's t moved by it.
double power_at(double difference, const Grounds& grounds, double launches) {
  const Spread spread = grounds.of_b->after(launches);
  const Sureness sure = sureness(grounds, launches);
  const double needed = std::max(sure.wide, sure.again) - std::abs(difference);
  const boost::math::students_t_distribution<double> student(spread.degrees_of_freedom);
  return boost::math::cdf(boost::math::complement(student, needed / spread.standard_error));
}

/// What is left of an effect without what its own error makes of nothing (James and Stein's
/// shrinkage, its positive part): one that was seen is more often too large than too small.
double shrunk(double effect, double standard_error) {
  const double share = standard_error / effect;
  return std::abs(effect) * std::max(0.0, 1 - share * share);
}

/// Launches are too many, or prompts leave too much to one of the two intervals that decide.
std::string why_no_launches(const Grounds& grounds, double difference) {
  if (power_at(difference, grounds, endless_launches) >= wanted_power)
    return fmt::format("over {} launches of each arm in all would be needed", most_launches);
  const Sureness sure = sureness(grounds, endless_launches);
  return fmt::format(
      "no number of launches would tell it: prompts differ so much in what {} that they alone "
      "leave {:.1f} % to both sides; more prompts would",
      sure.again > sure.wide ? "A again gains on A" : "B gains on A",
      100 * std::expm1(std::max(sure.wide, sure.again)));
}

/// Until a difference of the margin, or the one seen where that is more, would be told.
void propose_launches(Comparison& comparison, const Grounds& grounds, double effect) {
  const double error = grounds.of_b->after(comparison.launches).standard_error;
  const double difference = std::max(shrunk(effect, error), std::log1p(comparison.margin));
  for (int launches = comparison.launches + 1; launches <= most_launches; ++launches) {
    if (power_at(difference, grounds, launches) < wanted_power) continue;
    comparison.launches_needed = launches - comparison.launches;
    return;
  }
  comparison.launches_reason = why_no_launches(grounds, difference);
}

LimitVerdict judge_limit(double effect, double limit, const Sureness& sure) {
  const double distance = effect - std::log1p(-limit);
  if (!tells_apart(distance, sure)) return LimitVerdict::cannot_tell;
  return distance > 0 ? LimitVerdict::kept : LimitVerdict::broken;
}

}  // namespace

void find(Comparison& comparison, const Grounds& grounds) {
  comparison.finding = Finding::too_few;
  comparison.because = comparison.launches_reason = reason_against(comparison);
  if (!comparison.because.empty()) return;
  if (!grounds.paired) {
    comparison.finding = Finding::unpaired;
    comparison.because = comparison.launches_reason =
        "the runs were measured apart: what changed between them besides is not known";
    return;
  }
  comparison.finding = Finding::cannot_tell;
  const double effect = std::log(*comparison.ratios.tokens_per_s.value);
  if (!grounds.of_b || !grounds.of_again) {
    comparison.because = comparison.launches_reason =
        "A was not measured again: " + comparison.again.tokens_per_s.reason;
    return;
  }
  const Sureness sure = sureness(grounds, comparison.launches);
  comparison.again_spread = std::expm1(sure.again);
  comparison.power = power_at(std::log1p(comparison.margin), grounds, comparison.launches);
  comparison.because = broken_check(comparison, sure);
  if (!comparison.because.empty()) {
    comparison.launches_reason = "the run's own check failed: measure anew";
    return;
  }
  if (comparison.limit) comparison.limit_verdict = judge_limit(effect, *comparison.limit, sure);
  if (tells_same(effect, comparison.margin, sure)) {
    comparison.finding = Finding::same;
  } else if (tells_apart(effect, sure)) {
    comparison.finding = effect > 0 ? Finding::faster : Finding::slower;
  } else {
    comparison.because = undecided(effect, comparison.margin, sure);
    return propose_launches(comparison, grounds, effect);
  }
  comparison.launches_reason = "it is told";
}

}  // namespace paceline::metrics
