#include "document/noise.hpp"

#include <optional>

#include "document/counted.hpp"

namespace paceline::document {

namespace {

struct Totals {
  double steal_s = 0;
  double cpu_s = 0;
  double pressure_s = 0;
  double pressed_s = 0;  ///< time of the requests whose pressure is known
  std::optional<WorstRequest> worst;
  int requests = 0;
};

void add(Totals& totals, const trace::Launch& launch, const trace::Request& request) {
  const trace::Noise& noise = request.noise;
  ++totals.requests;
  if (noise.pressure_s && noise.elapsed_s > 0) {
    totals.pressure_s += *noise.pressure_s;
    totals.pressed_s += noise.elapsed_s;
  }
  if (noise.cpu_s <= 0) return;
  totals.steal_s += noise.steal_s;
  totals.cpu_s += noise.cpu_s;
  const double steal_share = noise.steal_s / noise.cpu_s;
  if (!totals.worst || steal_share > totals.worst->steal_share)
    totals.worst = WorstRequest{launch.arm, launch.round, request.prompt_id, steal_share};
}

}  // namespace

Noise to_noise(const trace::Trace& trace) {
  Totals totals;
  for_each_counted(trace, [&](const trace::Launch& launch, const trace::Request& request) {
    add(totals, launch, request);
  });
  const bool any = totals.requests > 0;
  const char* nothing = "no request was measured";
  const char* no_stat = any ? "the system does not say what its CPU time went to" : nothing;
  const char* no_pressure = any ? "the system reports no pressure (PSI)" : nothing;
  Noise noise;
  noise.steal_share =
      totals.cpu_s > 0 ? known(totals.steal_s / totals.cpu_s) : not_known<double>(no_stat);
  noise.pressure_share = totals.pressed_s > 0 ? known(totals.pressure_s / totals.pressed_s)
                                              : not_known<double>(no_pressure);
  noise.worst_request = known_or(totals.worst, no_stat);
  return noise;
}

}  // namespace paceline::document
