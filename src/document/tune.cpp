#include "document/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "document/counted.hpp"
#include "document/warnings.hpp"
#include "document/workload.hpp"
#include "metrics/summary.hpp"
#include "metrics/weighted.hpp"
#include "trace/names.hpp"
#include "util/clock.hpp"

namespace paceline::document {

namespace {

constexpr double seconds_per_ns = 1e-9;
constexpr const char* no_times = "no pass was timed on this machine";
constexpr const char* over_texts = "95 % over texts";

const metrics::PredictedArm* find_way(const metrics::PredictedRun& run, const std::string& arm) {
  const auto found = std::find_if(run.arms.begin(), run.arms.end(),
                                  [&](const auto& way) { return way.name == arm; });
  return found == run.arms.end() ? nullptr : &*found;
}

bool is_oracle(const metrics::PredictedArm* way) {
  return way != nullptr && way->drafting.n_max == 0;
}

/// Neither plain nor an oracle: something that can be chosen.
bool is_choice(const metrics::PredictedArm* way) { return way != nullptr && !is_oracle(way); }

Quantity timed(const metrics::Estimate& estimate, bool has_times) {
  return has_times ? to_quantity(estimate) : no_quantity(no_times);
}

/// Counts of a text are what they are whatever the launch.
Quantity counted(const metrics::Estimate& estimate, bool has_times) {
  Quantity quantity = to_quantity(estimate);
  if (!has_times && !quantity.level.empty() && quantity.level != "exact")
    quantity.level = over_texts;
  if (!has_times && quantity.reason.empty() && quantity.value && !quantity.low)
    quantity.reason = "too few texts";
  return quantity;
}

Known<double> guessed_of(const metrics::Counts& counts) {
  const auto accepted = counts.accepted.value();
  if (!accepted || counts.decode_tokens == 0) return not_known<double>("nothing was decoded");
  return known(static_cast<double>(*accepted) / static_cast<double>(counts.decode_tokens));
}

TunedWay to_way(const metrics::ClassSummary& summary, const std::string& arm,
                const metrics::PredictedRun& run) {
  const metrics::PredictedArm* way = find_way(run, arm);
  TunedWay row;
  row.arm = arm;
  row.draft_n_max = way == nullptr   ? not_known<int>("plain drafts nothing")
                    : is_oracle(way) ? not_known<int>("it chooses before every pass")
                                     : known(way->drafting.n_max);
  row.draft_p_min = way == nullptr ? 0 : way->drafting.p_min;
  row.tokens_per_pass = counted(summary.tokens_per_pass, run.has_times);
  row.acceptance = counted(summary.acceptance, run.has_times);
  row.guessed =
      way == nullptr ? not_known<double>("plain drafts nothing") : guessed_of(summary.counts);
  row.passes_per_s = timed(summary.passes_per_s, run.has_times);
  row.tokens_per_s = timed(summary.tokens_per_s, run.has_times);
  row.speedup = timed(summary.speedup, run.has_times);
  return row;
}

/// The way of drafting that has most of something, or why the first of them has none of it.
template <class Row>
Known<std::string> most_of(const std::vector<Row>& rows, const metrics::PredictedRun& run,
                           Quantity Row::*figure) {
  const Row* best = nullptr;
  std::string reason = "no drafter was asked along a text";
  bool any = false;
  for (const Row& row : rows) {
    if (!is_choice(find_way(run, row.arm))) continue;
    const Quantity& found = row.*figure;
    if (!std::exchange(any, true)) reason = found.reason;
    if (found.value && (best == nullptr || *found.value > *(best->*figure).value)) best = &row;
  }
  return best == nullptr ? not_known<std::string>(reason) : known(best->arm);
}

TunedClass to_class(const metrics::Summary& summary, std::size_t index,
                    const metrics::PredictedRun& run) {
  TunedClass made;
  for (const auto& arm : summary.arms) {
    if (index >= arm.classes.size() || arm.classes[index].prompts == 0) continue;
    const auto& of_class = arm.classes[index];
    made.name = of_class.workload_class;
    made.texts = std::max(made.texts, of_class.prompts);
    made.tokens =
        std::max(made.tokens, of_class.counts.decode_tokens / std::max(1, of_class.launches));
    made.ways.push_back(to_way(of_class, arm.name, run));
  }
  made.fastest = most_of(made.ways, run, &TunedWay::tokens_per_s);
  made.most_accepting = most_of(made.ways, run, &TunedWay::acceptance);
  made.most_tokens = most_of(made.ways, run, &TunedWay::tokens_per_pass);
  return made;
}

/// PAT over that of the arm's plain one, on the texts that both have.
Quantity mix_speedup_of(const trace::Trace& trace, const metrics::Summary& summary,
                        const std::string& name, const trace::Mix& mix) {
  const trace::Arm* arm = trace::find_arm(trace.header.arms, name);
  if (arm == nullptr || trace::is_denominator(*arm)) return no_quantity("this is the plain arm");
  if (trace::find_arm(trace.header.arms, arm->plain) == nullptr)
    return no_quantity("no plain arm was timed");
  for (const auto& side : summary.arms)
    if ((side.name == name || side.name == arm->plain) && !side.pat_decode.value)
      return no_quantity(side.pat_decode.reason);
  return to_quantity(metrics::mix_speedup(metrics::collect_mix(trace, name, mix),
                                          metrics::collect_mix(trace, arm->plain, mix), mix));
}

std::vector<TunedMix> to_total(const metrics::Summary& summary, const metrics::PredictedRun& run,
                               const trace::Mix& mix) {
  std::vector<TunedMix> rows;
  for (const auto& arm : summary.arms)
    rows.push_back({arm.name, timed(arm.pat_decode, run.has_times),
                    run.has_times ? mix_speedup_of(run.trace, summary, arm.name, mix)
                                  : no_quantity(no_times)});
  return rows;
}

std::string way_of_asking(const trace::DraftMap& map) {
  switch (map.kind) {
    case trace::MapKind::one_ask:
      return "asked once at every place: a shorter draft is the beginning of a longer one";
    case trace::MapKind::each_length:
      return "asked for every length at every place: a block's drafts of two lengths differ";
    case trace::MapKind::walked:
      return "walked with every length: what it drafts depends on what was accepted before";
  }
  return "";
}

void describe_maps(Tune& tune, const trace::Trace& mapped) {
  for (const auto& arm : mapped.header.arms) {
    long texts = 0;
    std::set<std::string> reasons;
    const trace::DraftMap* one = nullptr;
    for (const auto& launch : mapped.launches)
      if (launch.arm == arm.name)
        for (const auto& map : launch.maps) {
          if (!map.reason.empty()) reasons.insert(map.prompt_id + ": " + map.reason);
          if (map.reason.empty() && ++texts > 0) one = &map;
        }
    if (one != nullptr)
      tune.maps.push_back(fmt::format("{} ({}) {}; {} texts", arm.name,
                                      util::enum_name(arm.setup.spec_type), way_of_asking(*one),
                                      texts));
    for (const auto& reason : reasons)
      tune.notes.push_back(arm.name + " was not asked along " + reason);
  }
}

double seconds_of(const trace::Request& request) {
  const trace::Nanoseconds ended =
      request.passes.empty() ? request.prefill.ended_ns : request.passes.back().ended_ns;
  return static_cast<double>(ended - request.prefill.began_ns) * seconds_per_ns;
}

double seconds_of(const trace::Launch& launch) {
  double seconds = launch.facts ? launch.facts->load_s : 0;
  for (const auto& request : launch.requests) seconds += seconds_of(request);
  for (const auto& map : launch.maps)
    seconds += static_cast<double>(map.ended_ns - map.began_ns) * seconds_per_ns;
  return seconds;
}

double seconds_of(const trace::Trace& trace) {
  double seconds = 0;
  for (const auto& launch : trace.launches) seconds += seconds_of(launch);
  return seconds;
}

/// As it would be with plain and every length of each drafter in every round: the decoding that is
/// predicted, and prefill and loading as they were here.
Known<double> estimated_grid(const trace::Trace& mapped, const metrics::PredictedRun& run) {
  if (!run.has_times) return not_known<double>(no_times);
  double prefill_s = 0;
  double load_s = 0;
  int requests = 0;
  int loads = 0;
  for (const auto& launch : mapped.launches) {
    if (launch.facts && ++loads > 0) load_s += launch.facts->load_s;
    for (const auto& request : launch.requests) {
      prefill_s +=
          static_cast<double>(request.prefill.ended_ns - request.prefill.began_ns) * seconds_per_ns;
      ++requests;
    }
  }
  if (requests == 0) return not_known<double>("no request was made");
  double grid_s = 0;
  for (const auto& launch : run.trace.launches) {
    const auto* way = find_way(run, launch.arm);
    if (is_oracle(way) || (way != nullptr && way->drafting.p_min > 0)) continue;
    grid_s += load_s / loads;
    for (const auto& request : launch.requests)
      grid_s += seconds_of(request) + prefill_s / requests;
  }
  return known(grid_s);
}

TunedEffort effort_of(const trace::Trace& mapped, const metrics::PredictedRun& run) {
  TunedEffort effort;
  for (const auto& launch : mapped.launches) {
    const auto* arm = trace::find_arm(mapped.header.arms, launch.arm);
    const bool is_plain = arm != nullptr && trace::is_denominator(*arm);
    (trace::is_headline(launch, mapped.header) ? effort.timing_s
     : is_plain                                ? effort.texts_s
                                               : effort.maps_s) += seconds_of(launch);
  }
  effort.confirmation_s = not_known<double>("nothing was confirmed");
  effort.grid_s = estimated_grid(mapped, run);
  effort.share = not_known<double>("nothing was confirmed");
  return effort;
}

void set_share(TunedEffort& effort) {
  if (!effort.grid_s.value || !effort.confirmation_s.value) return;
  effort.share =
      known((effort.texts_s + effort.maps_s + effort.timing_s + *effort.confirmation_s.value) /
            *effort.grid_s.value);
}

Known<double> predicted_speedup(const Tune& tune, const std::string& arm,
                                const std::string& workload_class) {
  if (workload_class.empty()) {
    for (const auto& row : tune.total)
      if (row.arm == arm) return known_or(row.speedup.value, row.speedup.reason);
  }
  for (const auto& one : tune.classes)
    for (const auto& way : one.ways)
      if (one.name == workload_class && way.arm == arm)
        return known_or(way.speedup.value, "the map gives none");
  return not_known<double>("it was not mapped");
}

std::vector<TunedMeasurement> measurements_of(const Tune& tune, const trace::Trace& run,
                                              const trace::Mix& mix) {
  std::vector<TunedMeasurement> rows;
  const metrics::Summary summary = metrics::summarise(run, mix);
  for (const auto& arm : summary.arms) {
    for (const auto& one : arm.classes)
      rows.push_back({arm.name, one.workload_class, to_quantity(one.tokens_per_pass),
                      to_quantity(one.tokens_per_s), to_quantity(one.speedup),
                      predicted_speedup(tune, arm.name, one.workload_class)});
    rows.push_back({arm.name, "", no_quantity("classes differ in it"), to_quantity(arm.pat_decode),
                    mix_speedup_of(run, summary, arm.name, mix),
                    predicted_speedup(tune, arm.name, "")});
  }
  return rows;
}

void note_sessions(Tune& tune, const std::string& what, const trace::Trace& trace) {
  for (const auto& resumption : trace.resumptions)
    tune.notes.push_back(describe_resumption(what, resumption));
}

}  // namespace

Tune to_tune(const trace::Trace& mapped, const trace::Mix& mix) {
  const metrics::PredictedRun run = metrics::predict_run(mapped);
  const metrics::Summary summary = metrics::summarise(run.trace, mix);
  Tune tune;
  tune.tool = {"paceline", PACELINE_VERSION};
  tune.created = mapped.header.created;
  tune.trace_id = mapped.header.trace_id;
  tune.confirmation_trace_id = not_known<std::string>("nothing was confirmed");
  const auto* facts = first_facts(mapped, "");
  tune.model = facts != nullptr ? known(file_name(facts->target.path))
                                : not_known<std::string>("no model was loaded");
  tune.workload = file_name(mapped.header.workload);
  tune.mix = mix.name;
  describe_maps(tune, mapped);
  for (std::size_t i = 0; i < metrics::classes_of(run.trace).size(); ++i)
    tune.classes.push_back(to_class(summary, i, run));
  tune.total = to_total(summary, run, mix);
  tune.best = most_of(tune.total, run, &TunedMix::pat_decode);
  const metrics::MapCheck check = metrics::check_map(mapped);
  tune.check = {check.requests, check.requests_equal, check.passes, check.differences};
  tune.effort = effort_of(mapped, run);
  for (const auto& note : mapped.header.workload_notes) tune.notes.push_back(note);
  note_sessions(tune, "the map", mapped);
  if (run.has_lucky_oracle)
    tune.notes.emplace_back(
        "an oracle was chosen by the times of the launch that it is timed by, as there is no other "
        "one: it is too high");
  if (mapped.interrupted) tune.notes.emplace_back("the user stopped it before its end");
  return tune;
}

void add_confirmation(Tune& tune, const trace::Trace& run, const trace::Mix& mix) {
  tune.confirmation_trace_id = known(run.header.trace_id);
  note_sessions(tune, "the confirmation", run);
  tune.confirmed = measurements_of(tune, run, mix);
  tune.effort.confirmation_s = known(seconds_of(run));
  set_share(tune.effort);
}

void add_grid(Tune& tune, const trace::Trace& run, const trace::Mix& mix) {
  tune.grid = measurements_of(tune, run, mix);
  note_sessions(tune, "the grid", run);
  tune.effort.grid_s = known(seconds_of(run));
  tune.effort.grid_is_measured = true;
  set_share(tune.effort);
}

}  // namespace paceline::document
