#include "document/noise.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "document/counted.hpp"
#include "document/workload.hpp"
#include "metrics/arithmetic.hpp"
#include "metrics/sweep.hpp"

namespace paceline::document {

namespace {

/// Of the requests for which something is known: its sum, and their time.
struct Part {
  double sum = 0;
  double elapsed_s = 0;

  template <class Number>
  void add(const std::optional<Number>& value, const trace::Noise& noise) {
    if (!value || noise.elapsed_s <= 0) return;
    sum += static_cast<double>(*value);
    elapsed_s += noise.elapsed_s;
  }
  Known<double> per_s(const char* reason) const {
    return elapsed_s > 0 ? known(sum / elapsed_s) : not_known<double>(reason);
  }
};

struct Totals {
  double steal_s = 0;
  double cpu_s = 0;
  double elapsed_s = 0;
  Part pressure;
  Part switches;
  Part throttled;
  std::vector<double> clocks;
  std::map<std::string, double> neighbours;  ///< CPU seconds by name
  std::optional<WorstRequest> worst;
  int requests = 0;
};

void add(Totals& totals, const trace::Launch& launch, const trace::Request& request) {
  const trace::Noise& noise = request.noise;
  ++totals.requests;
  totals.elapsed_s += noise.elapsed_s;
  totals.pressure.add(noise.pressure_s, noise);
  totals.switches.add(noise.involuntary_switches, noise);
  totals.throttled.add(noise.throttled, noise);
  if (noise.clock_mhz) totals.clocks.push_back(*noise.clock_mhz);
  if (noise.neighbour) totals.neighbours[noise.neighbour->name] += noise.neighbour->cpu_s;
  if (noise.cpu_s <= 0) return;
  totals.steal_s += noise.steal_s;
  totals.cpu_s += noise.cpu_s;
  const double steal_share = noise.steal_s / noise.cpu_s;
  if (!totals.worst || steal_share > totals.worst->steal_share)
    totals.worst = WorstRequest{launch.arm, launch.round, request.prompt_id, steal_share};
}

Known<Spread> clocks_of(const Totals& totals, const char* reason) {
  if (totals.clocks.empty()) return not_known<Spread>(reason);
  const auto [least, most] = std::minmax_element(totals.clocks.begin(), totals.clocks.end());
  return known(Spread{*least, metrics::median(totals.clocks), *most});
}

Known<Neighbour> busiest_of(const Totals& totals, const char* reason) {
  const auto busiest = std::max_element(
      totals.neighbours.begin(), totals.neighbours.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  if (busiest == totals.neighbours.end() || totals.elapsed_s <= 0)
    return not_known<Neighbour>(reason);
  return known(Neighbour{busiest->first, busiest->second / totals.elapsed_s});
}

int count_excluded(const trace::Trace& trace) {
  int excluded = 0;
  for (const auto& launch : trace.launches)
    for (const auto& request : launch.requests) excluded += request.excluded ? 1 : 0;
  return excluded;
}

}  // namespace

Noise to_noise(const trace::Trace& trace, const metrics::Steadiness& steadiness) {
  Totals totals;
  const auto take = [&](const trace::Launch& launch, const trace::Request& request) {
    add(totals, launch, request);
  };
  for_each_counted(trace, take);
  auto held_out = metrics::held_out_part(trace);
  for (auto& launch : held_out.launches) launch.round += trace.header.rounds;
  for_each_counted(held_out, take);
  const bool any = totals.requests > 0;
  const char* const nothing = "no request was measured";
  const auto or_nothing = [&](const char* reason) { return any ? reason : nothing; };
  const char* const no_stat = or_nothing("the system does not say what its CPU time went to");
  Noise noise;
  noise.steal_share =
      totals.cpu_s > 0 ? known(totals.steal_s / totals.cpu_s) : not_known<double>(no_stat);
  noise.pressure_share = totals.pressure.per_s(or_nothing("the system reports no pressure (PSI)"));
  noise.worst_request = known_or(totals.worst, no_stat);
  noise.clock_mhz = clocks_of(
      totals, or_nothing("the system shows no clocks (cpufreq), as most virtual machines do not"));
  noise.throttled =
      totals.throttled.elapsed_s > 0
          ? known(static_cast<long>(totals.throttled.sum))
          : not_known<long>(or_nothing("the system counts no throttling (thermal_throttle)"));
  noise.involuntary_switches_per_s =
      totals.switches.per_s(or_nothing("the engine's threads are not on this machine"));
  noise.neighbour = busiest_of(totals, or_nothing("no other process was seen to be busy"));
  noise.launch_sd = to_quantity(steadiness.launch_sd);
  noise.drift_per_hour = to_quantity(steadiness.drift_per_hour);
  noise.exclude_steal = known_or(trace.header.exclude_steal, "no request is excluded, by rule");
  noise.requests_excluded = count_excluded(trace);
  return noise;
}

}  // namespace paceline::document
