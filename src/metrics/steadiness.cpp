#include "metrics/steadiness.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "metrics/arithmetic.hpp"
#include "metrics/interval.hpp"
#include "metrics/rates.hpp"
#include "metrics/sample.hpp"
#include "metrics/sweep.hpp"

namespace paceline::metrics {

namespace {

constexpr double ns_per_hour = 3.6e12;
/// Of launches that are nearer to one another, what they changed is not taken on to an hour.
constexpr double least_drift_hours = 10.0 / 60;

/// One launch beside the others of its arm.
struct Launched {
  double hours = 0;      ///< when, from the mean of its arm's launches
  double log_speed = 0;  ///< how much faster than the mean of its arm's launches
};

/// When a request ran, by the clock that all launches of its engine share.
trace::Nanoseconds moment_of(const trace::Request& request) {
  return request.answer ? request.answer->timeline.sent_ns : request.prefill.began_ns;
}

double hours_of(const trace::Launch& launch) {
  double sum = 0;
  int requests = 0;
  for (const auto& request : launch.requests)
    if (is_measured(request)) {
      sum += static_cast<double>(moment_of(request)) / ns_per_hour;
      ++requests;
    }
  return sum / requests;
}

/// An arm's launches on the prompts that all of them have, each prompt weighing the same.
std::vector<Launched> launches_of(const trace::Trace& trace, const trace::Arm& arm) {
  const auto counted = counted_launches(trace, arm.name);
  std::vector<Launched> launches(counted.size());
  int classes = 0;
  for (const auto& name : classes_of(trace)) {
    const auto seconds = mean_per_token(collect(counted, name), decode_seconds);
    if (!seconds) continue;
    ++classes;
    const auto slower = launch_deviations({Stratum{1, seconds->deviations}});
    for (std::size_t l = 0; l < launches.size(); ++l) launches[l].log_speed -= slower[l];
  }
  if (classes == 0) return {};
  std::vector<double> hours;
  for (const auto* launch : counted) hours.push_back(hours_of(*launch));
  for (std::size_t l = 0; l < launches.size(); ++l)
    launches[l] = {hours[l] - mean(hours), launches[l].log_speed / classes};
  return launches;
}

/// Pooled over the arms, with the interval of a standard deviation.
Estimate launch_sd(const std::vector<std::vector<Launched>>& arms) {
  double squares = 0;
  double freedom = 0;
  for (const auto& launches : arms) {
    if (launches.size() < 2) continue;
    for (const auto& launch : launches) squares += launch.log_speed * launch.log_speed;
    freedom += static_cast<double>(launches.size()) - 1;
  }
  if (freedom < 1) return unknown("no arm has two launches");
  const boost::math::chi_squared_distribution<double> chi(freedom);
  Estimate estimate;
  estimate.value = std::sqrt(squares / freedom);
  estimate.low = std::sqrt(squares / boost::math::quantile(chi, 0.975));
  estimate.high = std::sqrt(squares / boost::math::quantile(chi, 0.025));
  estimate.level = "95 % over launches";
  estimate.method = "chi squared on the launches of all arms, each around its arm's mean";
  estimate.n = static_cast<int>(freedom);
  return estimate;
}

/// Slope of the logarithm of speed over time, the plain arms each around their own mean.
Estimate drift(const std::vector<std::vector<Launched>>& arms) {
  double times = 0;
  double products = 0;
  double apart = 0;
  int launches = 0;
  int used = 0;
  for (const auto& arm : arms) {
    if (arm.size() < 2) continue;
    ++used;
    const auto [first, last] = std::minmax_element(
        arm.begin(), arm.end(),
        [](const auto& one, const auto& other) { return one.hours < other.hours; });
    apart = std::max(apart, last->hours - first->hours);
    launches += static_cast<int>(arm.size());
    for (const auto& launch : arm) {
      times += launch.hours * launch.hours;
      products += launch.hours * launch.log_speed;
    }
  }
  const int freedom = launches - used - 1;
  if (freedom < 1 || !(times > 0))
    return unknown("too few: a drift needs 3 launches of a plain arm at different times");
  if (apart < least_drift_hours)
    return unknown("too short: a drift an hour needs plain launches that are 10 minutes apart");
  const double slope = products / times;
  double rest = 0;
  for (const auto& arm : arms)
    if (arm.size() > 1)
      for (const auto& launch : arm) rest += std::pow(launch.log_speed - slope * launch.hours, 2);
  const Spread known{std::sqrt(rest / freedom / times), static_cast<double>(freedom)};
  Estimate estimate;
  estimate.value = std::expm1(slope);
  estimate.low = std::expm1(slope - half_width(known, 0.95));
  estimate.high = std::expm1(slope + half_width(known, 0.95));
  estimate.level = "95 % over launches";
  estimate.method = "slope of log speed over time, plain launches";
  estimate.n = launches;
  return estimate;
}

}  // namespace

Steadiness steadiness_of(const trace::Trace& trace) {
  std::vector<std::vector<Launched>> all;
  std::vector<std::vector<Launched>> plain;
  const auto add = [&](const trace::Trace& part) {
    for (const auto& arm : part.header.arms) {
      all.push_back(launches_of(part, arm));
      if (arm.setup.spec_type == trace::SpecType::none) plain.push_back(all.back());
    }
  };
  add(trace);
  add(held_out_part(trace));
  return {launch_sd(all), drift(plain)};
}

}  // namespace paceline::metrics
