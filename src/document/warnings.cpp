#include "document/warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <set>
#include <utility>

#include "document/counted.hpp"
#include "document/facts.hpp"
#include "metrics/interval.hpp"
#include "metrics/rates.hpp"
#include "trace/json.hpp"

namespace paceline::document {

namespace {

constexpr double notable_steal_share = 0.01;
constexpr double notable_pressure_share = 0.05;
constexpr double notable_neighbour_cores = 0.05;

struct NextStep {
  WarningKind kind;
  const char* text;
};

constexpr std::array next_steps = {
    NextStep{WarningKind::looping,
             "do not compare its speed with other classes; sample at the model's own temperature, "
             "or use a larger model"},
    NextStep{WarningKind::too_few_prompts,
             "measure at least 8 prompts of different families in each class"},
    NextStep{WarningKind::few_launches, "run with --launches 3 or more"},
    NextStep{WarningKind::high_steal,
             "repeat on a machine that nobody else uses, and compare only within this run"},
    NextStep{WarningKind::high_pressure, "close other programs and repeat"},
    NextStep{WarningKind::throttled, "cool the machine, or cap its power or clocks, and repeat"},
    NextStep{WarningKind::drift,
             "compare only arms of this run, which are interleaved; let the machine settle first"},
    NextStep{WarningKind::sweep_finding,
             "choose by the speed on held-out prompts, never by acceptance; more --launches tell "
             "noise from a finding"},
    NextStep{WarningKind::no_free_core, "leave one core free with a smaller -t"},
    NextStep{WarningKind::version_mismatch,
             "do not change the engine during a run; measure the builds in separate runs"},
    NextStep{WarningKind::sampling_mismatch,
             "give every arm the same sampling before comparing them"},
    NextStep{WarningKind::lost_launch, "read its reason under Failures, mend it and repeat"},
    NextStep{WarningKind::failed_requests, "read the reasons below, mend them and repeat"},
    NextStep{WarningKind::contradiction,
             "do not quote these figures; keep the trace: a server, the engine or this tool counts "
             "wrong"},
    NextStep{WarningKind::unequal_output,
             "quote the decode rates, where every prompt weighs the same, and not as_run"},
    NextStep{WarningKind::few_draft_tokens, "raise -n or the number of prompts"},
    NextStep{WarningKind::mix_depth,
             "choose prompts of the mix's depth, or quote PAT for the measured depth only"},
    NextStep{WarningKind::interrupted, "repeat it whole before quoting a figure"},
    NextStep{WarningKind::server_oddity,
             "look at what the server said, in the trace, before quoting its figures"},
    NextStep{WarningKind::cached_prompt,
             "do not quote its prefill; give every prompt a beginning of its own, or switch the "
             "server's prompt cache off"},
    NextStep{WarningKind::impossible_pass_cost,
             "do not quote its speed-ups: the machine changed between launches; repeat it on a "
             "quiet machine with more --launches"},
    NextStep{WarningKind::forced_acceptance,
             "quote no acceptance, tokens per pass or quality of it: only what a pass costs"},
    NextStep{
        WarningKind::wrong_text,
        "do not use this drafter with this build: it changes what the target says; run it with "
        "another build, or report it"},
    NextStep{WarningKind::client_bottleneck,
             "give the client a core of its own or another machine, and repeat"},
    NextStep{WarningKind::context_past_training,
             "quote no quality at depths past the training context but one measured there"},
    NextStep{WarningKind::resumed,
             "before quoting a small difference, see that it is there within one session"},
    NextStep{WarningKind::synthetic_model,
             "quote no text, acceptance or quality of them: only what a pass costs"},
};
static_assert(next_steps.size() == warning_kinds, "every kind of warning has a next step");

Warning warning(WarningKind kind, std::string text) {
  Warning result{kind, std::move(text), {}};
  for (const NextStep& step : next_steps)
    if (step.kind == kind) result.next_step = step.text;
  return result;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : "; ") + name;
  return text;
}

/// "CLASS on ARM", for every workload that `chosen` describes; nothing where it says "".
template <class Describe>
std::vector<std::string> places(const Document& document, Describe describe) {
  std::vector<std::string> found;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads)
      if (const std::string detail = describe(arm, workload); !detail.empty())
        found.push_back(workload.workload_class + " on " + arm.name + " (" + detail + ")");
  return found;
}

class Warnings {
 public:
  /// Adds "TEXT: PLACE; PLACE" unless there is no place.
  void add(WarningKind kind, const std::string& text, const std::vector<std::string>& where) {
    if (!where.empty()) list.push_back(warning(kind, text + ": " + joined(where)));
  }
  void add(WarningKind kind, const std::string& text) { list.push_back(warning(kind, text)); }

  std::vector<Warning> list;
};

void warn_of_sessions(Warnings& warnings, const trace::Trace& trace) {
  for (const auto& resumption : trace.resumptions)
    warnings.add(WarningKind::resumed, describe_resumption("the run", resumption));
}

void warn_of_run(Warnings& warnings, const Document& document) {
  const Launches& launches = document.launches;
  if (launches.interrupted)
    warnings.add(WarningKind::interrupted,
                 fmt::format("the run was cut short: {} of {} launches were made",
                             launches.each.size(), launches.planned));
  if (launches.lost > 0)
    warnings.add(WarningKind::lost_launch, fmt::format("{} of {} launches did not end well",
                                                       launches.lost, launches.planned));
  long failed = 0;
  for (const Failure& failure : document.outcomes)
    if (failure.prompt) ++failed;
  if (failed > 0)
    warnings.add(WarningKind::failed_requests,
                 fmt::format("{} requests failed or were cut; they are in no figure", failed));
}

/// A running server of which it is known that it does not speculate.
bool is_plain_server(const Document& document, const Arm& arm) {
  return std::any_of(document.servers.begin(), document.servers.end(), [&](const Server& server) {
    return server.arm == arm.name && !server.speculates.value.value_or(true);
  });
}

/// A point of a sweep that was left out by its rule has few launches, and nothing is claimed of it.
bool left_out(const Document& document, const Arm& arm) {
  if (!document.sweep.value) return false;
  const auto& points = document.sweep.value->points;
  return std::any_of(points.begin(), points.end(), [&](const SweepPoint& point) {
    return point.arm == arm.name && point.left_out_after.value;
  });
}

void warn_of_samples(Warnings& warnings, const Document& document) {
  warnings.add(WarningKind::too_few_prompts, "too few prompts for an interval",
               places(document, [](const Arm&, const Workload& workload) -> std::string {
                 if (std::cmp_greater_equal(workload.families, metrics::fewest_families) &&
                     workload.n_eff >= metrics::fewest_effective_prompts)
                   return "";
                 return fmt::format("{} prompts in {} families, n_eff {:.1f}", workload.prompts,
                                    workload.families, workload.n_eff);
               }));
  std::vector<std::string> few;
  for (const Arm& arm : document.arms)
    if (std::cmp_less(arm.launches_done, metrics::fewest_launches) && !left_out(document, arm))
      few.push_back(fmt::format("{} ({})", arm.name, arm.launches_done));
  warnings.add(WarningKind::few_launches, "under 3 launches say nothing about builds or machines",
               few);
  warnings.add(
      WarningKind::few_draft_tokens, "too few draft tokens to compare",
      places(document, [&document](const Arm& arm, const Workload& workload) -> std::string {
        const auto& offered = workload.acceptance.offered.value;
        if (arm.settings.spec_type == "none" || !offered || *offered >= metrics::fewest_offered ||
            is_plain_server(document, arm))
          return "";
        return std::to_string(*offered);
      }));
}

void warn_of_text(Warnings& warnings, const Document& document, const trace::Trace& trace) {
  warnings.add(WarningKind::looping, "output repeats itself, and loops draft perfectly",
               places(document, [](const Arm&, const Workload& workload) -> std::string {
                 if (!workload.looping.value.value_or(false)) return "";
                 return fmt::format("{:.0f} %", 100 * *workload.repeated_8gram_share.value);
               }));
  warnings.add(WarningKind::wrong_text,
               "greedy texts differ from plain's by more than rounding accounts for",
               places(document, [](const Arm&, const Workload& workload) -> std::string {
                 const auto& lossless = workload.lossless.value;
                 if (!lossless || lossless->wrong == 0) return "";
                 return fmt::format("{} of {}", lossless->wrong, lossless->texts);
               }));
  int counted = 0;
  int ended_early = 0;
  for_each_counted(trace, [&](const trace::Launch&, const trace::Request& request) {
    ++counted;
    std::size_t tokens = 0;
    for (const auto& emission : request.emissions) tokens += emission.tokens.size();
    if (request.stop == trace::StopReason::eos && std::cmp_less(tokens, trace.header.n_predict))
      ++ended_early;
  });
  if (ended_early > 0)
    warnings.add(WarningKind::unequal_output,
                 fmt::format("{} of {} outputs ended before {} tokens, so texts differ in length",
                             ended_early, counted, trace.header.n_predict));
}

/// A pass that checks drafts reads all that a plain one reads.
void warn_of_costs(Warnings& warnings, const Document& document) {
  warnings.add(WarningKind::impossible_pass_cost, "passes cost less than plain ones",
               places(document, [](const Arm&, const Workload& workload) -> std::string {
                 const auto& cost = workload.decode.pass_cost;
                 const auto highest = cost.high ? cost.high : cost.value;
                 if (!highest || *highest >= 1) return "";
                 return fmt::format("{:.2f}", *cost.value);
               }));
}

/// A mix holds for its depth: decoding slows down as the KV cache fills.
void warn_of_mix(Warnings& warnings, const Document& document) {
  warnings.add(WarningKind::mix_depth, "measured at another depth than the mix is stated for",
               places(document, [&document](const Arm&, const Workload& workload) -> std::string {
                 const auto said = document.mix.depth.find(workload.workload_class);
                 if (said == document.mix.depth.end() || !said->second.value) return "";
                 if (!workload.depth.value) return "";
                 const auto [lowest, highest] = *workload.depth.value;
                 const int wanted = *said->second.value;
                 if (lowest <= wanted && wanted <= highest) return "";
                 return fmt::format("{} to {} KV positions, the mix says {}", lowest, highest,
                                    wanted);
               }));
}

/// "; busiest beside us: cc1plus with 0.93 of a core", where somebody was.
std::string neighbour_text(const Noise& noise) {
  const auto& neighbour = noise.neighbour.value;
  if (!neighbour || neighbour->cores < notable_neighbour_cores) return "";
  return fmt::format("; busiest beside us: {} with {:.2f} cores", neighbour->name,
                     neighbour->cores);
}

void warn_of_machine(Warnings& warnings, const Document& document) {
  const Noise& noise = document.noise;
  if (noise.steal_share.value && *noise.steal_share.value > notable_steal_share)
    warnings.add(WarningKind::high_steal,
                 fmt::format("the hypervisor took {:.1f} % of the CPU time during requests{}",
                             100 * *noise.steal_share.value, neighbour_text(noise)));
  if (noise.pressure_share.value && *noise.pressure_share.value > notable_pressure_share)
    warnings.add(WarningKind::high_pressure,
                 fmt::format("some task waited for a CPU in {:.0f} % of the requests' time{}",
                             100 * *noise.pressure_share.value, neighbour_text(noise)));
  if (noise.throttled.value.value_or(0) > 0)
    warnings.add(WarningKind::throttled,
                 fmt::format("cores or packages throttled {} times during requests",
                             *noise.throttled.value));
  if (const auto& drift = noise.drift_per_hour;
      drift.low && drift.high && (*drift.low > 0 || *drift.high < 0))
    warnings.add(WarningKind::drift,
                 fmt::format("plain's speed changed by {:+.1f} % an hour [{:+.1f}, {:+.1f}]",
                             100 * *drift.value, 100 * *drift.low, 100 * *drift.high));
  std::vector<std::string> full;
  const auto cores = document.machine.cores_online.value;
  for (const Arm& arm : document.arms)
    if (cores && arm.settings.threads.value >= *cores) full.push_back(arm.name);
  if (!full.empty())
    warnings.add(WarningKind::no_free_core,
                 fmt::format("no core was left free of the engine's threads ({} cores)", *cores),
                 full);
}

bool one_sampling(const trace::Trace& trace) {
  std::set<std::string> requested;
  std::set<std::string> meant_to_differ;
  for (const auto& arm : trace.header.arms)
    if (arm.neutralised)
      meant_to_differ.insert(arm.name);
    else
      requested.insert(util::dump_json(arm.sampling));
  std::set<std::string> effective;
  for (const auto& launch : trace.launches)
    if (launch.facts && !meant_to_differ.contains(launch.arm))
      effective.insert(util::dump_json(launch.facts->sampling));
  return requested.size() <= 1 && effective.size() <= 1;
}

void warn_of_differences(Warnings& warnings, const trace::Trace& trace) {
  if (!one_build(trace)) {
    std::set<std::string> builds;
    for (const auto& launch : trace.launches)
      if (launch.facts)
        builds.insert(launch.facts->engine + " " + launch.facts->version + " (" +
                      launch.facts->build + ")");
    warnings.add(WarningKind::version_mismatch, "launches ran different builds",
                 {builds.begin(), builds.end()});
  }
  if (!one_sampling(trace))
    warnings.add(WarningKind::sampling_mismatch, "arms or launches sampled differently");
}

void warn_of_sweep(Warnings& warnings, const Document& document) {
  if (document.sweep.value)
    for (const auto& finding : document.sweep.value->findings)
      warnings.add(WarningKind::sweep_finding, finding);
}

/// What servers said that they should not have, each sentence once with how often it came.
void warn_of_servers(Warnings& warnings, const Document& document, const trace::Trace& trace) {
  std::map<std::string, int> oddities;
  for (const auto& launch : trace.launches)
    for (const auto& request : launch.requests)
      if (request.answer)
        for (const auto& oddity : request.answer->oddities) ++oddities[launch.arm + ": " + oddity];
  std::vector<std::string> told;
  for (const auto& [sentence, times] : oddities) {
    if (told.size() == 5) {
      told.push_back(fmt::format("and {} more kinds", oddities.size() - told.size()));
      break;
    }
    told.push_back(times > 1 ? fmt::format("{} ({} times)", sentence, times) : sentence);
  }
  warnings.add(WarningKind::server_oddity, "a server said what it should not", told);
  warnings.add(WarningKind::cached_prompt, "prompts were answered from a cache in part",
               places(document, [](const Arm&, const Workload& workload) -> std::string {
                 const auto& cached = workload.prefill.prefill_cached.value;
                 return cached && *cached > 0 ? fmt::format("{} tokens", *cached) : "";
               }));
  std::vector<std::string> forced;
  for (const Server& server : document.servers)
    if (server.forced_acceptance.value.value_or(false)) forced.push_back(server.arm);
  if (document.drafter.value)
    for (const Drafter& drafter : document.drafter.value->by_arm)
      if (drafter.forced.value && document.servers.empty()) forced.push_back(drafter.arm);
  warnings.add(WarningKind::forced_acceptance, "acceptance is made up, not the drafter's", forced);
}

/// Files of random weights, which say nothing of any model.
void warn_of_synthetic(Warnings& warnings, const Document& document) {
  std::vector<std::string> files;
  const auto add = [&files](const Known<Model>& model) {
    if (!model.value || !model.value->synthetic.value) return;
    const std::string& file = model.value->file;
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  };
  add(document.target);
  if (document.drafter.value)
    for (const Drafter& drafter : document.drafter.value->by_arm) add(drafter.file);
  warnings.add(WarningKind::synthetic_model, "weights are random, made by paceline synth", files);
}

/// "yarn, factor 4, from 32768 tokens", as the target's file has it.
std::string rope_text(const Model& target) {
  const auto& scaling = target.rope_scaling.value;
  if (!scaling) return "none";
  std::string text = scaling->type;
  if (scaling->factor.value) text += fmt::format(", factor {:g}", *scaling->factor.value);
  if (scaling->original_context.value)
    text += fmt::format(", from {} tokens", *scaling->original_context.value);
  return text;
}

void warn_of_context(Warnings& warnings, const Document& document) {
  if (!document.target.value || !document.target.value->context_train.value) return;
  const int trained = *document.target.value->context_train.value;
  std::vector<std::string> longer;
  for (const Arm& arm : document.arms)
    if (arm.settings.n_ctx.value && *arm.settings.n_ctx.value > trained)
      longer.push_back(fmt::format("{} ({} tokens)", arm.name, *arm.settings.n_ctx.value));
  warnings.add(WarningKind::context_past_training,
               fmt::format("the context is longer than the {} tokens that the model was trained "
                           "with (its file's rope scaling: {})",
                           trained, rope_text(*document.target.value)),
               longer);
}

void warn_of_loads(Warnings& warnings, const Document& document) {
  std::vector<std::string> slow, cached;
  for (const Load& load : document.loads) {
    const std::string place =
        load.concurrency.value
            ? fmt::format("{} at concurrency {}", load.arm, *load.concurrency.value)
            : fmt::format("{} at {:g} requests/s", load.arm, load.rate_per_s.value.value_or(0));
    if (load.client.bottleneck.value) slow.push_back(place);
    if (load.prefill_cached.value.value_or(0) > 0) cached.push_back(place);
  }
  warnings.add(WarningKind::client_bottleneck,
               "this program was too slow to say anything of rates and latencies", slow);
  warnings.add(WarningKind::cached_prompt, "prompts of a load were answered from a cache in part",
               cached);
}

/// One lost record contradicts a request each time it was sent: the first few tell the story.
void warn_of_contradictions(Warnings& warnings, std::vector<std::string> contradictions) {
  constexpr std::size_t most_told = 3;
  const std::size_t count = contradictions.size();
  if (count > most_told) {
    contradictions.resize(most_told);
    contradictions.push_back(fmt::format("and {} more", count - most_told));
  }
  warnings.add(WarningKind::contradiction, "counts that cannot all be true", contradictions);
}

}  // namespace

std::string describe_resumption(const std::string& what, const trace::Resumption& resumption) {
  std::string text = fmt::format("{} was cut off after {} launches and gone on with at {}", what,
                                 resumption.launches_kept, resumption.at);
  if (!resumption.changes.empty())
    text += fmt::format(", though this had changed: {}", fmt::join(resumption.changes, "; "));
  return text;
}

std::vector<Warning> to_warnings(const Document& document, const trace::Trace& trace,
                                 const std::vector<std::string>& contradictions) {
  Warnings warnings;
  warn_of_run(warnings, document);
  warn_of_sessions(warnings, trace);
  warn_of_contradictions(warnings, contradictions);
  warn_of_differences(warnings, trace);
  warn_of_samples(warnings, document);
  warn_of_text(warnings, document, trace);
  warn_of_mix(warnings, document);
  warn_of_costs(warnings, document);
  warn_of_machine(warnings, document);
  warn_of_sweep(warnings, document);
  warn_of_servers(warnings, document, trace);
  warn_of_synthetic(warnings, document);
  warn_of_context(warnings, document);
  warn_of_loads(warnings, document);
  return std::move(warnings.list);
}

}  // namespace paceline::document
