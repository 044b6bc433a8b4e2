#include "metrics/phases.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

namespace paceline::metrics {

namespace {

constexpr double seconds_per_ns = 1e-9;

bool has_phases(const trace::Request& request) {
  return request.synced && !request.warm_up && count_request(request) && !request.passes.empty() &&
         std::all_of(request.passes.begin(), request.passes.end(),
                     [](const trace::Pass& pass) { return pass.phases.has_value(); });
}

struct PhaseField {
  trace::Nanoseconds trace::Phases::*ns;
  double PhaseSummary::*seconds;
};

constexpr PhaseField phase_fields[] = {
    {&trace::Phases::draft_ns, &PhaseSummary::draft_s},
    {&trace::Phases::checkpoint_ns, &PhaseSummary::checkpoint_s},
    {&trace::Phases::verify_ns, &PhaseSummary::verify_s},
    {&trace::Phases::process_ns, &PhaseSummary::process_s},
    {&trace::Phases::sample_ns, &PhaseSummary::sample_s},
    {&trace::Phases::accept_ns, &PhaseSummary::accept_s},
    {&trace::Phases::rollback_ns, &PhaseSummary::rollback_s},
};
static_assert(std::size(phase_fields) == sizeof(trace::Phases) / sizeof(trace::Nanoseconds),
              "a phase is missing");

/// Whole nanoseconds, so that a rest of nothing is zero and never a rounding error below it.
struct PhaseTotals {
  trace::Nanoseconds phases[std::size(phase_fields)] = {};
  trace::Nanoseconds synced = 0;
  long passes = 0;

  void add(const trace::Request& request) {
    trace::Nanoseconds ended = request.emissions.back().at_ns;
    for (const auto& pass : request.passes) {
      ++passes;
      ended = std::max(ended, pass.ended_ns);
      for (std::size_t i = 0; i < std::size(phase_fields); ++i)
        phases[i] += (*pass.phases).*phase_fields[i].ns;
    }
    synced += ended - request.emissions.front().at_ns;
  }
  trace::Nanoseconds other() const {
    return std::accumulate(std::begin(phases), std::end(phases), synced, std::minus<>());
  }
  double per_pass(trace::Nanoseconds total) const {
    return static_cast<double>(total) * seconds_per_ns / static_cast<double>(passes);
  }
};

}  // namespace

std::optional<PhaseSummary> phases_of(const trace::Trace& trace, std::string_view arm,
                                      std::string_view workload_class) {
  PhaseTotals totals;
  for (const auto& launch : trace.launches) {
    if (launch.arm != arm) continue;
    for (const auto& request : launch.requests)
      if (request.workload_class == workload_class && has_phases(request)) totals.add(request);
  }
  if (totals.passes == 0) return std::nullopt;
  PhaseSummary summary;
  summary.passes = totals.passes;
  summary.synced_total_s = totals.per_pass(totals.synced);
  summary.other_s = totals.per_pass(totals.other());
  for (std::size_t i = 0; i < std::size(phase_fields); ++i)
    summary.*phase_fields[i].seconds = totals.per_pass(totals.phases[i]);
  return summary;
}

}  // namespace paceline::metrics
