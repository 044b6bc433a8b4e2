#include "document/assemble.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "document/assemble_comparisons.hpp"
#include "document/counted.hpp"
#include "document/facts.hpp"
#include "document/fills.hpp"
#include "document/load.hpp"
#include "document/memory.hpp"
#include "document/noise.hpp"
#include "document/projector.hpp"
#include "document/sampling.hpp"
#include "document/server.hpp"
#include "document/sweep_of.hpp"
#include "document/warnings.hpp"
#include "document/workload.hpp"
#include "metrics/break_even.hpp"
#include "trace/names.hpp"

namespace paceline::document {

namespace {

constexpr const char* never_opened = "no launch opened, see outcomes";

Known<int> positive(int value) {
  return value > 0 ? known(value) : not_known<int>("the engine does not say");
}

Known<std::string> named(const std::string& name) {
  return name.empty() ? not_known<std::string>("the engine does not say") : known(name);
}

Known<Placement> to_placement(const std::optional<trace::Placement>& said, const char* unsaid) {
  if (!said) return not_known<Placement>(unsaid);
  const char* const takes_none = "no device takes layers";
  return known(Placement{said->devices, known_or(said->layers_offloaded, takes_none),
                         known_or(said->layers, takes_none),
                         known_or(said->graph_splits, "the library did not say")});
}

Engine to_engine(const trace::EngineFacts& facts) {
  return {facts.engine,
          named(facts.version),
          named(facts.build),
          facts.devices,
          positive(facts.n_batch),
          positive(facts.n_ubatch),
          named(facts.cache_type_k),
          named(facts.cache_type_v),
          facts.server ? not_known<bool>("the server does not say") : known(facts.flash_attention),
          to_placement(facts.target_placement, "the engine does not say")};
}

/// The files of a running server are its own.
Known<Model> to_target(const trace::EngineFacts& facts) {
  if (!facts.server || !facts.target.recipe.empty()) return known(to_model(facts.target));
  const auto& model = facts.server->model;
  return not_known<Model>("the server's files cannot be read; it calls its model " +
                          (model ? "\"" + *model + "\"" : std::string("nothing")));
}

Known<Forced> to_forced(const trace::Arm& arm, const trace::EngineFacts& facts) {
  if (!arm.setup.forced) return not_known<Forced>("the target decides what it accepts");
  const trace::ForcedAcceptance& asked = *arm.setup.forced;
  const char* const schedule = asked.length ? util::enum_name(asked.schedule) : "rates";
  // A server was told the same and does not repeat it.
  return known(Forced{schedule, asked.length, facts.forced_rates.value_or(asked.rates)});
}

/// A drafter of which nothing is known but who uses it and how it drafts.
Drafter unknown_drafter(const trace::Arm& arm, trace::SpecType type, const char* reason) {
  return {arm.name,
          util::enum_name(type),
          not_known<Model>(reason),
          not_known<DraftPart>(reason),
          not_known<int>(reason),
          not_known<NgramSizes>(reason),
          not_known<int>(reason),
          not_known<bool>(reason),
          not_known<int>(reason),
          not_known<bool>(reason),
          not_known<Placement>(reason),
          not_known<std::string>(reason),
          not_known<Forced>(reason)};
}

/// Of a server that we did not start: what it says of itself is in `servers`.
Drafter of_server(const trace::Arm& arm, const trace::EngineFacts& facts) {
  const char* const unsaid = "the server's own, and it does not say which";
  Drafter drafter = unknown_drafter(arm, arm.setup.spec_type, unsaid);
  drafter.n_max = known_or(facts.server->draft_n_max, unsaid);
  drafter.forced = not_known<Forced>("what a server says of it is in its own facts");
  return drafter;
}

/// One that looks up what the text itself holds. `said`: sizes in force. Of a server, which does
/// not say, they are those it was started with.
Drafter to_ngram_drafter(const trace::Arm& arm, const trace::EngineFacts& facts,
                         const trace::NgramDrafter& asked,
                         const std::optional<trace::NgramSizes>& said) {
  const trace::SpecType type = asked.type;
  const auto sizes = facts.server ? std::optional(asked.sizes) : said;
  Drafter drafter = unknown_drafter(arm, type, "drafts from the text itself, without a file");
  const bool fixed = type == trace::SpecType::ngram_cache;
  drafter.block = not_known<int>("not a block drafter");
  drafter.part = not_known<DraftPart>("not a part of the target's file");
  drafter.ngram = not_known<NgramSizes>("the engine does not say its sizes");
  if (sizes)
    drafter.ngram = known(NgramSizes{sizes->size_n, sizes->size_m, sizes->min_hits, sizes->n_min});
  drafter.n_max = known_or(fixed   ? trace::ngram_cache_draft
                           : sizes ? sizes->size_m
                                   : std::optional<int>(),
                           "the engine does not say its longest draft");
  drafter.on_device =
      facts.server ? not_known<bool>("where draft tokens are picked was not seen") : known(false);
  drafter.candidates = not_known<int>("the device picks none");
  drafter.backend_sampling = not_known<bool>("n-grams are looked up by the host");
  drafter.placement = not_known<Placement>("it has no model");
  drafter.rollback = named(facts.rollback);
  drafter.forced = to_forced(arm, facts);
  return drafter;
}

Drafter to_model_drafter(const trace::Arm& arm, const trace::EngineFacts& facts) {
  const bool inside = !facts.drafter && arm.setup.spec_type == trace::SpecType::draft_mtp;
  Drafter drafter = unknown_drafter(arm, arm.setup.spec_type,
                                    inside ? "a part of the target's file" : "it has no file");
  if (facts.drafter) drafter.file = known(to_model(*facts.drafter));
  drafter.part = inside ? to_model(facts.target).drafter
                        : not_known<DraftPart>("not a part of the target's file");
  std::optional<int> block = facts.draft_block;
  if (!block && facts.drafter && facts.drafter->drafter) block = facts.drafter->drafter->block;
  drafter.block = known_or(block, "not a block drafter");
  drafter.ngram = not_known<NgramSizes>("not an n-gram drafter");
  drafter.n_max = known_or(facts.draft_n_max, "the engine does not say its longest draft");
  drafter.on_device = known_or(facts.draft_on_device, "where draft tokens are picked was not seen");
  drafter.candidates = known_or(facts.draft_candidates, "the device was not seen to pick any");
  drafter.backend_sampling = arm.setup.spec_type == trace::SpecType::draft_simple
                                 ? not_known<bool>("draft-simple's tokens are picked by the host")
                                 : known(arm.setup.backend_sampling);
  drafter.placement = to_placement(facts.drafter_placement, "the engine does not say");
  drafter.rollback = named(facts.rollback);
  drafter.forced = to_forced(arm, facts);
  return drafter;
}

/// In the order they are asked.
void add_drafters(const trace::Arm& arm, const trace::EngineFacts& facts,
                  std::vector<Drafter>& drafters) {
  const trace::Setup& setup = arm.setup;
  for (std::size_t i = 0; i < setup.asked_first.size(); ++i)
    drafters.push_back(to_ngram_drafter(
        arm, facts, setup.asked_first[i],
        i < facts.asked_first.size() ? std::optional(facts.asked_first[i].sizes) : std::nullopt));
  if (facts.server && setup.spec_type == trace::SpecType::undeclared)
    drafters.push_back(of_server(arm, facts));
  else if (trace::is_ngram(setup.spec_type))
    drafters.push_back(to_ngram_drafter(arm, facts, {setup.spec_type, setup.ngram}, facts.ngram));
  else
    drafters.push_back(to_model_drafter(arm, facts));
}

Known<Drafters> to_drafters(const trace::Trace& trace) {
  Drafters drafters;
  bool wanted = false;
  for (const auto& arm : trace.header.arms) {
    if (arm.setup.spec_type == trace::SpecType::none) continue;
    wanted = true;
    if (const auto* facts = first_facts(trace, arm.name))
      add_drafters(arm, *facts, drafters.by_arm);
  }
  if (!drafters.by_arm.empty()) return known(std::move(drafters));
  return not_known<Drafters>(wanted ? "no launch of a speculating arm opened, see outcomes"
                                    : "no arm speculates");
}

/// Whether a stop token is counted is the engine's to say, request by request.
std::string stop_rule(const trace::Trace& trace) {
  int finished = 0;
  int counted = 0;
  for_each_counted(trace, [&](const trace::Launch&, const trace::Request& request) {
    ++finished;
    if (request.eos_counted) ++counted;
  });
  const std::string rule = "an end-of-generation token ends a request before the cap";
  if (finished == 0) return rule;
  if (counted == finished) return rule + " and is counted as output";
  return rule + (counted == 0 ? " and is not counted" : " and is counted in some requests only");
}

/// Then nobody can say, or decide, what drafters keep from one request to the next.
bool ran_in_server(const trace::Trace& trace) {
  return std::any_of(trace.header.arms.begin(), trace.header.arms.end(), [](const auto& arm) {
    return !arm.setup.url.empty() || !arm.setup.server_bin.empty();
  });
}

Launches to_launches(const trace::Trace& trace) {
  const trace::Header& header = trace.header;
  Launches launches;
  launches.rounds = header.rounds;
  launches.planned = trace::planned_launches(header.arms.size(), header.rounds, header.sweep);
  launches.interrupted = trace.interrupted;
  launches.seed = header.seed;
  launches.workload = header.workload;
  launches.workload_notes = header.workload_notes;
  launches.prompt_form = util::enum_name(header.prompt_form);
  launches.n_predict = header.n_predict;
  launches.force_text = header.force_text;
  launches.protocol = ran_in_server(trace)  ? "server"
                      : header.warm_session ? "warm_session"
                                            : "reset";
  launches.stop_rule = stop_rule(trace);
  for (const auto& launch : trace.launches) {
    const bool done = launch.outcome.kind == trace::OutcomeKind::done;
    if (trace::is_headline(launch, header)) ++(done ? launches.done : launches.lost);
    std::optional<double> load_s;
    if (launch.facts) load_s = launch.facts->load_s;
    launches.each.push_back({launch.index, launch.round, launch.arm,
                             util::enum_name(launch.outcome.kind),
                             known_or(load_s, "the launch never opened")});
  }
  return launches;
}

Settings to_settings(const trace::Arm& arm, const trace::EngineFacts* facts) {
  const bool plain = arm.setup.spec_type == trace::SpecType::none;
  Settings settings;
  settings.spec_type = trace::spec_types_text(arm.setup);
  if (arm.setup.draft_path) settings.draft_path = file_name(*arm.setup.draft_path);
  settings.draft_n_max_requested = arm.setup.draft_n_max;
  settings.draft_p_min = arm.setup.draft_p_min;
  settings.draft_n_max = known_or(facts ? facts->draft_n_max : std::nullopt,
                                  plain   ? "no drafter"
                                  : facts ? "the engine does not say its longest draft"
                                          : never_opened);
  settings.n_ctx = positive(facts && facts->n_ctx > 0 ? facts->n_ctx : arm.setup.n_ctx);
  settings.threads = positive(facts ? facts->threads : arm.setup.threads);
  const auto kv_type = [&](std::string trace::EngineFacts::*type) {
    return facts ? named(facts->*type) : not_known<std::string>(never_opened);
  };
  settings.cache_type_k = kv_type(&trace::EngineFacts::cache_type_k);
  settings.cache_type_v = kv_type(&trace::EngineFacts::cache_type_v);
  settings.draft_cache_type_k = plain ? not_known<std::string>("no drafter")
                                      : kv_type(&trace::EngineFacts::draft_cache_type_k);
  settings.draft_cache_type_v = plain ? not_known<std::string>("no drafter")
                                      : kv_type(&trace::EngineFacts::draft_cache_type_v);
  settings.sampling = to_requested(arm.sampling);
  return settings;
}

Known<std::string> to_plain(const trace::Arm& arm, const std::vector<trace::Arm>& arms) {
  if (trace::is_denominator(arm)) return not_known<std::string>("it is plain decoding itself");
  if (!trace::find_arm(arms, arm.plain)) return not_known<std::string>("no plain arm");
  return known(arm.plain);
}

std::vector<Arm> to_arms(const trace::Trace& trace, const metrics::Summary& summary) {
  std::vector<Arm> arms;
  for (const auto& measured : summary.arms) {
    const trace::Arm* planned = trace::find_arm(trace.header.arms, measured.name);
    if (planned == nullptr) continue;
    Arm arm;
    arm.name = measured.name;
    arm.plain = to_plain(*planned, trace.header.arms);
    arm.residency = trace.header.residency;
    arm.settings = to_settings(*planned, first_facts(trace, measured.name));
    arm.launches_done = measured.launches_done;
    arm.launches_lost = measured.launches_lost;
    for (const auto& of_class : measured.classes)
      arm.workloads.push_back(to_workload(of_class, *planned, trace, summary.curves));
    arms.push_back(std::move(arm));
  }
  return arms;
}

std::vector<DefaultPrice> to_prices(const metrics::Summary& summary) {
  std::vector<DefaultPrice> prices;
  for (const auto& from : summary.default_prices)
    prices.push_back({from.workload_class, from.arm, from.without, from.parameter,
                      from.parameter_value, to_quantity(from.tokens_per_s),
                      to_quantity(from.passes_per_s), to_quantity(from.tokens_per_pass)});
  return prices;
}

Mix to_mix(const trace::Mix& mix, const metrics::Summary& summary) {
  Mix result;
  result.name = mix.name;
  for (const auto& [name, item] : mix.classes) {
    result.shares[name] = item.share;
    result.tokens_per_request[name] = known_or(item.tokens_per_request, "the mix does not say");
    result.depth[name] = known_or(item.depth, "the mix does not say");
  }
  for (const auto& arm : summary.arms) {
    result.pat_decode[arm.name] = to_quantity(arm.pat_decode);
    result.pat_end_to_end[arm.name] = to_quantity(arm.pat_end_to_end);
  }
  return result;
}

Known<double> lookup(const std::map<int, double>& seconds, int width) {
  const auto found = seconds.find(width);
  return found == seconds.end() ? not_known<double>("not timed at this width")
                                : known(found->second);
}

std::vector<WidthCurve> to_curves(const metrics::Summary& summary) {
  std::vector<WidthCurve> curves;
  for (const auto& from : summary.curves) {
    WidthCurve curve{from.arm, from.filled_tokens, {}};
    for (const auto& cost : from.widths) {
      const bool has_step = std::isfinite(cost.step) && cost.step > 0;
      curve.widths.push_back(
          {cost.width, cost.depth, to_quantity(cost.verify_s),
           known_or(metrics::verify_cost(from, cost.width - 1), "width 1 was not timed here"),
           known_or(metrics::acceptance_needed(from, cost.width - 1), "no draft, or not timed"),
           has_step ? known(cost.step) : not_known<double>("no narrower width was timed"),
           lookup(from.draft_s, cost.width), lookup(from.process_s, cost.width)});
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

Failure to_failure(const trace::Launch& launch, std::optional<std::string> prompt,
                   const trace::Outcome& outcome) {
  return {launch.arm,     launch.round,   std::move(prompt), util::enum_name(outcome.kind),
          outcome.reason, outcome.signal, outcome.exit_code, outcome.log_tail};
}

std::vector<Failure> to_outcomes(const trace::Trace& trace) {
  std::vector<Failure> failures;
  for (const auto& launch : trace.launches) {
    if (launch.outcome.kind != trace::OutcomeKind::done)
      failures.push_back(to_failure(launch, std::nullopt, launch.outcome));
    for (const auto& request : launch.requests)
      if (request.outcome.kind != trace::OutcomeKind::done)
        failures.push_back(to_failure(launch, request.prompt_id, request.outcome));
    for (const auto& cell : launch.loads)
      for (const auto& request : cell.requests)
        if (request.outcome.kind != trace::OutcomeKind::done)
          failures.push_back(to_failure(launch, request.prompt_id, request.outcome));
  }
  return failures;
}

Known<std::uint64_t> to_llc_bytes(const trace::Trace& trace) {
  for (const auto& launch : trace.launches)
    if (launch.memory_speed && launch.memory_speed->llc_bytes)
      return known(*launch.memory_speed->llc_bytes);
  return not_known<std::uint64_t>("the memory was not measured in this run");
}

void fill_run(Document& document, const trace::Trace& trace) {
  document.schema = "paceline.report/1";
  document.tool = {"paceline", trace.header.tool_version};
  document.created = trace.header.created;
  document.trace_id = trace.header.trace_id;
  const trace::EngineFacts* facts = first_facts(trace, "");
  document.engine = facts ? known(to_engine(*facts)) : not_known<Engine>(never_opened);
  document.target = facts ? to_target(*facts) : not_known<Model>(never_opened);
  document.drafter = to_drafters(trace);
  document.projector = to_projector(trace);
  document.servers = to_servers(trace);
  document.sampling = to_sampling(trace);
  document.launches = to_launches(trace);
  document.outcomes = to_outcomes(trace);
}

}  // namespace

Document assemble(const trace::Trace& trace, const metrics::Summary& summary, const trace::Mix& mix,
                  const machine::MachineFacts& machine) {
  Document document;
  fill_run(document, trace);
  document.machine = to_machine(machine);
  document.arms = to_arms(trace, summary);
  document.comparisons = to_comparisons(trace, summary);
  document.default_prices = to_prices(summary);
  document.mix = to_mix(mix, summary);
  document.memory = to_memory(trace);
  document.fills = to_fills(trace, summary);
  document.sweep = to_sweep(trace, summary);
  document.llc_bytes = to_llc_bytes(trace);
  document.quality = {"no perplexity or task was measured beside the speed"};
  document.noise = to_noise(trace, summary.steadiness);
  document.width_curves = to_curves(summary);
  fill_loads(document, summary.loads);
  // These two judge what the rest of the document holds, so they come last.
  document.facts = to_facts(document, trace);
  document.warnings = to_warnings(document, trace, summary.contradictions);
  return document;
}

}  // namespace paceline::document
