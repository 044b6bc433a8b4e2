#include "metrics/fills.hpp"

#include <algorithm>
#include <map>

#include "metrics/interval.hpp"

namespace paceline::metrics {

namespace {

/// What the launches of one arm said of one depth.
struct Attempts {
  std::vector<trace::Fill> fills;
  std::vector<std::string> failures;
};

double seconds_of(const trace::Fill& fill) {
  return static_cast<double>(fill.ended_ns - fill.began_ns) * 1e-9;
}

std::map<int, Attempts> attempts_of(const trace::Trace& trace, const std::string& arm) {
  std::map<int, Attempts> attempts;
  for (const auto& launch : trace.launches) {
    if (launch.arm != arm || !trace::is_headline(launch, trace.header)) continue;
    for (const auto& filled : launch.fills) {
      auto& [fills, failures] = attempts[filled.asked_depth];
      if (filled.fill)
        fills.push_back(*filled.fill);
      else if (filled.outcome.kind != trace::OutcomeKind::done &&
               std::count(failures.begin(), failures.end(), filled.outcome.reason) == 0)
        failures.push_back(filled.outcome.reason);
    }
  }
  return attempts;
}

FillSummary summarise(const trace::Arm& arm, int depth, Attempts attempts) {
  FillSummary summary;
  summary.arm = arm.name;
  summary.depth = depth;
  summary.failures = std::move(attempts.failures);
  std::vector<double> rates;
  double seconds = 0;
  double drafter_s = 0;
  for (const auto& fill : attempts.fills) {
    if (!(seconds_of(fill) > 0) || fill.tokens < 1) continue;
    rates.push_back(fill.tokens / seconds_of(fill));
    seconds += seconds_of(fill);
    drafter_s += static_cast<double>(fill.drafter_ns) * 1e-9;
    summary.tokens = fill.tokens;
  }
  summary.launches = static_cast<int>(rates.size());
  if (rates.empty()) {
    summary.prefill_tokens_per_s =
        unknown(summary.failures.empty() ? "a server reads the text anew with every prompt"
                                         : "no launch reached this depth");
    return summary;
  }
  summary.prefill_tokens_per_s = over_launches(rates);
  if (arm.setup.spec_type != trace::SpecType::none) summary.drafter_share = drafter_s / seconds;
  return summary;
}

}  // namespace

std::vector<FillSummary> summarise_fills(const trace::Trace& trace) {
  std::vector<FillSummary> summaries;
  for (const auto& arm : trace.header.arms)
    for (auto& [depth, attempts] : attempts_of(trace, arm.name))
      summaries.push_back(summarise(arm, depth, std::move(attempts)));
  return summaries;
}

}  // namespace paceline::metrics
