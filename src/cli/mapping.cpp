#include "cli/mapping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "cli/recording.hpp"
#include "cli/watched.hpp"
#include "metrics/predicted_run.hpp"
#include "metrics/summary.hpp"
#include "trace/names.hpp"
#include "util/console.hpp"
#include "util/interrupt.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

constexpr int longest_asked = 16;

bool drafts_stepwise(trace::SpecType type) {
  return type == trace::SpecType::draft_simple || type == trace::SpecType::draft_mtp ||
         type == trace::SpecType::draft_eagle3;
}

std::string drafter_name(const trace::Setup& setup) {
  std::string name = util::enum_name(setup.spec_type);
  const std::string prefix = "draft-";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// An n-gram drafter's longest draft is one of its sizes.
trace::Arm as_run(trace::Arm arm, const trace::Drafting& drafting) {
  if (trace::is_ngram(arm.setup.spec_type) && arm.setup.spec_type != trace::SpecType::ngram_cache)
    arm.setup.ngram.size_m = drafting.n_max;
  return arm;
}

template <class Wanted>
std::vector<trace::Arm> arms_of(const trace::Trace& map, Wanted wanted) {
  const auto run = metrics::predict_run(map);
  std::vector<trace::Arm> arms;
  for (const auto& arm : run.trace.header.arms) {
    if (trace::is_denominator(arm)) arms.push_back(arm);
    for (const auto& way : run.arms)
      if (way.name == arm.name && way.drafting.n_max > 0 && wanted(way))
        arms.push_back(as_run(arm, way.drafting));
  }
  return arms;
}

}  // namespace

util::Result<void> prepare_arms(std::vector<trace::Arm>& arms) {
  if (std::count_if(arms.begin(), arms.end(), trace::is_denominator) > 1)
    return util::misused("one plain arm is needed and several are asked for: name one KV type");
  if (std::all_of(arms.begin(), arms.end(), trace::is_denominator))
    return util::misused(
        "there is no drafter to ask: name one, as in --spec-type draft-mtp or -md FILE");
  std::set<std::string> names;
  for (auto& arm : arms) {
    if (trace::is_denominator(arm)) continue;
    if (!arm.setup.asked_first.empty())
      return util::misused(
          "{}: drafters that are asked one after the other change what the next one sees, so that "
          "no map of one holds for them: name them one by one with --arm",
          arm.name);
    if (drafts_stepwise(arm.setup.spec_type) && arm.setup.draft_n_max == 0)
      arm.setup.draft_n_max = longest_asked;
    if (names.insert(drafter_name(arm.setup)).second) arm.name = drafter_name(arm.setup);
  }
  return {};
}

study::MapOptions map_options(const study::RunOptions& run, const MapOptionsSource& source) {
  study::MapOptions options;
  options.arms = run.arms;
  for (const auto& prompt : run.prompts.measured) {
    protocol::KnownText text;
    text.workload_class = prompt.workload_class;
    text.prompt_id = prompt.id;
    text.prompt = prompt.text;
    text.messages = prompt.messages;
    options.texts.push_back(std::move(text));
    options.families.push_back(prompt.family);
  }
  options.p_mins = source.p_mins;
  for (const auto& arm : run.arms)
    options.longest = std::max(options.longest, arm.setup.draft_n_max);
  options.n_predict = run.n_predict;
  options.rounds = source.rounds;
  options.seed = run.seed;
  options.patience_s = run.patience_s;
  return options;
}

void describe(const study::MapOptions& options, std::size_t fresh_prompts) {
  std::vector<std::string> drafters;
  for (const auto& arm : options.arms)
    if (!trace::is_denominator(arm)) drafters.push_back(arm.name);
  util::say(fmt::format(
      "Plan: plain writes {} texts of at most {} tokens; {} {} asked at every place of them, "
      "p-min {}; passes of every length are timed in {} launches; the best and its neighbours are "
      "run on {} fresh prompts.",
      options.texts.size(), options.n_predict, fmt::join(drafters, ", "),
      drafters.size() == 1 ? "is" : "are", fmt::join(options.p_mins, ", "), options.rounds,
      fresh_prompts));
}

util::Result<trace::Trace> make_part(const study::RunOptions& run, const Output& output,
                                     const std::string& what, const MakeStudy& make) {
  PACELINE_TRY_ASSIGN(const auto recording, Recording::open_part(run, output));
  trace::Trace& trace = recording->trace();
  util::Result<void> made;
  if (!recording->is_whole())
    made = watched([&](const auto& watcher, const auto& stop_asked) {
      return make(*recording, watcher, stop_asked, trace);
    });
  util::say(what + " is stored as " + trace.header.trace_id);
  PACELINE_TRY(made);
  return std::move(trace);
}

util::Result<trace::Trace> make_map(const study::MapOptions& options, study::RunOptions run,
                                    const Output& output,
                                    const engine::EngineFactory& make_engine) {
  run.rounds = options.rounds;
  return make_part(run, output, "The map",
                   [&](auto& journal, const auto& watcher, const auto& stop_asked, auto& trace) {
                     return study::map_texts(options, make_engine, journal, watcher, stop_asked,
                                             trace);
                   });
}

util::Result<void> check_mapped(const trace::Trace& map) {
  if (util::interrupted()) return {};
  std::string reason;
  const auto note = [&](const trace::Outcome& outcome) {
    if (outcome.kind != trace::OutcomeKind::done && reason.empty()) reason = outcome.reason;
  };
  for (const auto& launch : map.launches) {
    for (const auto& one : launch.maps)
      if (one.reason.empty()) return {};
    note(launch.outcome);
    for (const auto& request : launch.requests) note(request.outcome);
    for (const auto& one : launch.maps)
      if (reason.empty()) reason = one.prompt_id + ": " + one.reason;
  }
  return util::fail(util::ErrorKind::engine, "no text could be mapped: " + reason);
}

trace::Mix equal_mix(const trace::Trace& map) {
  return metrics::equal_mix(metrics::predict_run(map).trace);
}

std::vector<trace::Arm> all_arms(const trace::Trace& map) {
  return arms_of(map, [](const metrics::PredictedArm&) { return true; });
}

std::vector<trace::Arm> arms_near(const trace::Trace& map, const std::string& arm) {
  const auto run = metrics::predict_run(map);
  const auto best = std::find_if(run.arms.begin(), run.arms.end(),
                                 [&](const auto& way) { return way.name == arm; });
  return arms_of(map, [&](const metrics::PredictedArm& way) {
    return best != run.arms.end() && way.mapped == best->mapped &&
           way.drafting.p_min == best->drafting.p_min &&
           std::abs(way.drafting.n_max - best->drafting.n_max) <= 1;
  });
}

}  // namespace paceline::cli
