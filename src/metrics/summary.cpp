#include "metrics/summary.hpp"

#include <algorithm>

#include "metrics/contradictions.hpp"
#include "metrics/losslessness.hpp"
#include "metrics/mix.hpp"
#include "metrics/phases.hpp"
#include "metrics/price.hpp"
#include "metrics/rates.hpp"
#include "metrics/sample.hpp"
#include "metrics/widths.hpp"

namespace paceline::metrics {

namespace {

/// Bare as far as anyone can know: loaded so by us, or declared so by the owner of a server.
bool counts_as_bare(const std::string& residency) {
  return residency == "bare" || residency == "declared";
}

using Samples = std::map<std::string, Sample>;  // by class

Samples collect_arm(const trace::Trace& trace, const trace::Arm& arm) {
  const auto launches = counted_launches(trace, arm.name);
  Samples samples;
  for (const auto& name : classes_of(trace)) samples[name] = collect(launches, name, &arm.setup);
  return samples;
}

/// What the arms of a run share: the trace, and by name the plain arms that speed-ups are over.
struct Context {
  const trace::Trace& trace;
  std::map<std::string, Samples> plain;
};

/// The name that an arm's server gives its model, of the first launch that has one.
std::optional<std::string> served_model(const trace::Trace& trace, const std::string& arm) {
  for (const auto& launch : trace.launches)
    if (launch.arm == arm && launch.facts && launch.facts->server)
      return launch.facts->server->model;
  return std::nullopt;
}

/// A twin that serves another model is none; empty where nobody can tell.
std::string no_twin_reason(const trace::Trace& trace, const trace::Arm& arm) {
  const auto plain = served_model(trace, arm.plain);
  const auto model = served_model(trace, arm.name);
  if (!plain || !model || *plain == *model) return "";
  return "the plain server calls its model \"" + *plain + "\" and this one \"" + *model + "\"";
}

Context context_of(const trace::Trace& trace) {
  Context context{trace, {}};
  for (const auto& arm : trace.header.arms)
    if (trace::is_denominator(arm)) context.plain[arm.name] = collect_arm(trace, arm);
  return context;
}

/// Why an arm is not held against its plain one; empty where it is.
std::string no_comparison_reason(const Context& context, const trace::Arm& arm) {
  if (trace::is_denominator(arm)) return "this is the plain arm, the denominator";
  if (!context.plain.contains(arm.plain)) return "no plain arm";
  if (!counts_as_bare(context.trace.header.residency))
    return "the plain arm was not loaded bare, alone in memory";
  return no_twin_reason(context.trace, arm);
}

void compare_with_plain(ClassSummary& summary, const Context& context, const trace::Arm& arm,
                        const Sample& sample, bool has_drafter) {
  if (const std::string reason = no_comparison_reason(context, arm); !reason.empty()) {
    refuse_comparison(summary, reason);
    summary.pass_cost_from_widths = unknown(reason);
    return;
  }
  fill_comparison(summary, sample, context.plain.at(arm.plain).at(summary.workload_class),
                  has_drafter);
  summary.pass_cost_from_widths = pass_cost_from_widths(context.trace, arm.name, arm.plain,
                                                        summary.counts, summary.filled_tokens);
  if (!arm.setup.forced)
    summary.lossless = compare_texts(context.trace, arm.name, arm.plain, summary.workload_class);
}

ClassSummary summarise_class(const Context& context, const trace::Arm& arm,
                             const std::string& workload_class, const Sample& sample) {
  const bool has_drafter = arm.setup.spec_type != trace::SpecType::none;
  ClassSummary summary;
  summary.workload_class = workload_class;
  summary.filled_tokens = sample.filled_tokens;
  fill_rates(summary, sample, has_drafter);
  compare_with_plain(summary, context, arm, sample, has_drafter);
  summary.phases = phases_of(context.trace, arm.name, workload_class);
  if (summary.phases && summary.seconds_per_pass.value) {
    summary.phases->unsynced_total_s = *summary.seconds_per_pass.value;
    summary.phases->overlap_s = summary.phases->synced_total_s - summary.phases->unsynced_total_s;
  }
  return summary;
}

/// Why an arm's speed is not held against plain's; empty where it is. One that writes another text,
/// for which no rounding accounts, does other work, and acceptance by chance is nobody's speed.
std::string why_no_speedup(const ArmSummary& arm, bool forced) {
  if (forced) return "its acceptance was forced: only what its passes cost is compared";
  const auto wrong = std::find_if(arm.classes.begin(), arm.classes.end(), [](const auto& summary) {
    return summary.lossless && summary.lossless->verdict == Verdict::wrong;
  });
  if (wrong == arm.classes.end()) return "";
  return "its greedy text on " + wrong->workload_class + " is " + wrong->lossless->says;
}

void withhold_speedups(ArmSummary& arm, bool forced) {
  const std::string reason = why_no_speedup(arm, forced);
  if (reason.empty()) return;
  for (auto& summary : arm.classes) summary.speedup = unknown(reason);
}

/// The same of a sweep's points and of its winner.
void withhold_speedups(SweepSummary& sweep, const ArmSummary& arm, bool forced) {
  const std::string reason = why_no_speedup(arm, forced);
  if (reason.empty()) return;
  for (auto& cell : sweep.cells)
    if (cell.arm == arm.name) cell.speedup = unknown(reason);
  if (sweep.held_out && sweep.held_out->arm == arm.name) sweep.held_out->speedup = unknown(reason);
}

ArmSummary summarise_arm(const Context& context, const trace::Arm& arm, const trace::Mix& mix) {
  ArmSummary summary;
  summary.name = arm.name;
  for (const auto& launch : context.trace.launches) {
    if (launch.arm != arm.name || !trace::is_headline(launch, context.trace.header)) continue;
    if (launch.outcome.kind == trace::OutcomeKind::done)
      ++summary.launches_done;
    else
      ++summary.launches_lost;
  }
  const auto samples = collect_arm(context.trace, arm);
  const auto curves = width_curves(context.trace, arm.name);
  for (const auto& name : classes_of(context.trace)) {
    const Sample& sample = samples.at(name);
    summary.classes.push_back(summarise_class(context, arm, name, sample));
    ClassSummary& of_class = summary.classes.back();
    of_class.ceiling = ceiling_of(of_class, sample, context.trace, arm, curves);
  }
  withhold_speedups(summary, arm.setup.forced.has_value());
  fill_mix(summary, samples, mix);
  return summary;
}

}  // namespace

Summary summarise(const trace::Trace& trace, const trace::Mix& mix) {
  Summary summary;
  summary.contradictions = find_contradictions(trace);
  const auto context = context_of(trace);
  for (const auto& arm : trace.header.arms) {
    summary.arms.push_back(summarise_arm(context, arm, mix));
    for (const auto& item : summary.arms.back().classes) {
      for (auto& sentence :
           {find_phase_contradiction(arm.name, item), find_ceiling_contradiction(arm.name, item)})
        if (!sentence.empty()) summary.contradictions.push_back(sentence);
    }
    for (auto& curve : width_curves(trace, arm.name)) summary.curves.push_back(std::move(curve));
  }
  summary.fills = summarise_fills(trace);
  summary.default_prices = price_defaults(trace);
  summary.comparisons = compare_arms(trace, mix);
  summary.loads = summarise_loads(trace);
  summary.steadiness = steadiness_of(trace);
  summary.sweep = summarise_sweep(trace, mix);
  if (summary.sweep)
    for (std::size_t arm = 0; arm < summary.arms.size(); ++arm)
      withhold_speedups(*summary.sweep, summary.arms[arm],
                        trace.header.arms[arm].setup.forced.has_value());
  const auto& more = summary.loads.contradictions;
  summary.contradictions.insert(summary.contradictions.end(), more.begin(), more.end());
  return summary;
}

trace::Mix equal_mix(const trace::Trace& trace) {
  trace::Mix mix;
  mix.name = "equal shares";
  const auto classes = shallowest_classes_of(trace);
  for (const auto& name : classes)
    mix.classes[name] = {1.0 / static_cast<double>(classes.size()), trace.header.n_predict, {}};
  return mix;
}

trace::Mix mix_of(const trace::Trace& trace) {
  return trace.header.mix ? *trace.header.mix : equal_mix(trace);
}

}  // namespace paceline::metrics
