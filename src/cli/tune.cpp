#include "document/tune.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/commands.hpp"
#include "cli/mapping.hpp"
#include "cli/output.hpp"
#include "cli/run_settings.hpp"
#include "document/json.hpp"
#include "metrics/summary.hpp"
#include "report/tune.hpp"
#include "study/mapping.hpp"
#include "study/run.hpp"
#include "util/console.hpp"
#include "util/interrupt.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_tune =
    "Finds the draft length (and p-min) that is fastest without running every one: a drafter is "
    "asked along texts that plain decoding wrote, passes of the widths that follow are timed, and "
    "the best length and its neighbours are then measured on fresh prompts.";

constexpr const char* examples =
    "Examples:\n"
    "  paceline tune --draft -m target.gguf --spec-type draft-mtp\n"
    "      drafts of 1 to 16 tokens from the target's own MTP block\n"
    "  paceline tune --draft -m target.gguf -md dflash.gguf --arm draft-dflash --arm draft-mtp \\\n"
    "      --p-min 0,0.5,0.8 --class json,prose\n"
    "      two drafters and three probabilities at which a draft ends\n"
    "  paceline tune --draft -m target.gguf --spec-type draft-mtp --grid\n"
    "      the same, and runs of every length beside it: what the map is worth\n"
    "  paceline tune --resume last\n"
    "      go on with one that was stopped, in its map, confirmation or grid";

struct Settings {
  RunSettings run;
  bool draft = false;
  std::vector<double> p_mins = {0};
  int fresh_prompts = 8;
  bool grid = false;
};

util::Result<void> check(const Settings& settings) {
  const RunSettings& run = settings.run;
  if (!settings.draft)
    return util::misused("tune says how to draft so far and nothing else: add --draft");
  if (run.server.is_remote() || run.server.is_managed())
    return util::misused(
        "tune asks drafters along a text, which no server lets anyone do: leave --url and "
        "--server-bin out, and take the result over to your server");
  if (run.arms.accept_length || !run.arms.accept_rates.empty())
    return util::misused("tune finds out what is accepted: leave --accept-.. out");
  if (run.workload.depths.any() || run.run.loads.any() || run.price_defaults ||
      run.run.force_text || run.run.phases || run.run.warm_session || run.workload.image)
    return util::misused(
        "tune measures one request at a time behind its own prompt: leave --depths, --concurrency, "
        "--rate, --price-defaults, --force-text, --phases, --warm-session and --image out");
  if (run.arms.draft_p_min)
    return util::misused("tune takes several probabilities: write --p-min 0,{}",
                         *run.arms.draft_p_min);
  return {};
}

/// The last prompts of each class for the confirmation, at most half of it; the others are mapped.
void split(workload::Selection& mapped, std::vector<workload::Prompt>& fresh, int fresh_prompts) {
  std::map<std::string, int> left;
  for (const auto& prompt : mapped.measured) ++left[prompt.workload_class];
  for (auto& [name, count] : left) count -= std::min(fresh_prompts, count / 2);
  std::vector<workload::Prompt> kept;
  for (auto& prompt : mapped.measured)
    (left[prompt.workload_class]-- > 0 ? kept : fresh).push_back(std::move(prompt));
  mapped.measured = std::move(kept);
}

MapOptionsSource source_of(const Settings& settings) {
  return {settings.p_mins, settings.run.run.rounds};
}

/// Runs measure nothing but requests: widths and memory were no part of the question.
study::RunOptions run_of(const Settings& settings, std::vector<trace::Arm> arms,
                         std::vector<workload::Prompt> prompts) {
  study::RunOptions options = settings.run.run;
  options.arms = std::move(arms);
  options.prompts.measured = std::move(prompts);
  options.widths = options.ceilings = false;
  return options;
}

constexpr const char* confirmed_part = "confirmed";
constexpr const char* grid_part = "grid";

/// The study of the map, of which "X-confirmed" and "X-grid" are parts.
std::string map_of(const std::string& id) {
  for (const char* part : {confirmed_part, grid_part})
    if (const std::string end = std::string("-") + part; id.ends_with(end))
      return id.substr(0, id.size() - end.size());
  return id;
}

/// Where a part of it goes: into the study "X-grid" beside the map's "X", and "Y-grid.jsonl" beside
/// "Y.jsonl".
Output output_of(const Settings& settings, const trace::Trace& map, const std::string& part) {
  Output output = settings.run.output;
  output.resume = map.header.trace_id + "-" + part;
  if (output.trace) {
    const std::filesystem::path of(*output.trace);
    output.trace = of.parent_path() / (of.stem().string() + "-" + part + of.extension().string());
  }
  return output;
}

util::Result<trace::Trace> measured(const study::RunOptions& options, const Output& output,
                                    const std::string& what,
                                    const engine::EngineFactory& make_engine) {
  return make_part(options, output, what,
                   [&](auto& journal, const auto& watcher, const auto& stop_asked, auto& trace) {
                     return study::run(options, make_engine, journal, watcher, stop_asked, trace);
                   });
}

util::Result<void> confirm(const Settings& settings, const trace::Trace& map,
                           const std::vector<workload::Prompt>& fresh, const trace::Mix& mix,
                           const engine::EngineFactory& make_engine, document::Tune& tune) {
  if (util::interrupted()) return {};
  if (!tune.best.value) {
    tune.notes.emplace_back("no length is best, so that nothing was confirmed");
    return {};
  }
  if (fresh.empty()) {
    tune.notes.emplace_back(
        "no prompt was kept to confirm it with: what is predicted is no result yet");
    return {};
  }
  const auto arms = arms_near(map, *tune.best.value);
  PACELINE_TRY_ASSIGN(const auto run, measured(run_of(settings, arms, fresh),
                                               output_of(settings, map, confirmed_part),
                                               "Its confirmation", make_engine));
  document::add_confirmation(tune, run, mix);
  return {};
}

util::Result<void> run_grid(const Settings& settings, const trace::Trace& map,
                            const trace::Mix& mix, const engine::EngineFactory& make_engine,
                            document::Tune& tune) {
  if (!settings.grid || util::interrupted()) return {};
  PACELINE_TRY_ASSIGN(const auto run,
                      measured(run_of(settings, all_arms(map), settings.run.run.prompts.measured),
                               output_of(settings, map, grid_part), "The grid", make_engine));
  document::add_grid(tune, run, mix);
  return {};
}

util::Result<int> tune_with(Settings settings) {
  PACELINE_TRY(check(settings));
  RunSettings& run = settings.run;
  if (run.output.resume) run.output.resume = map_of(*run.output.resume);
  run.workload.prompts_per_class += settings.fresh_prompts;
  const auto make_engine = plan_run(run);
  if (util::interrupted()) return exit_interrupted;
  PACELINE_TRY(make_engine);
  PACELINE_TRY(prepare_arms(run.run.arms));
  std::vector<workload::Prompt> fresh;
  split(run.run.prompts, fresh, settings.fresh_prompts);
  PACELINE_TRY(check_json_path(run.output.json, files_of(run.run, run.output)));
  const study::MapOptions options = map_options(run.run, source_of(settings));
  describe(options, fresh.size());
  if (run.output.dry_run) return 0;
  PACELINE_TRY_ASSIGN(const trace::Trace map, make_map(options, run.run, run.output, *make_engine));
  PACELINE_TRY(check_mapped(map));
  const trace::Mix mix = run.run.mix ? *run.run.mix : equal_mix(map);
  document::Tune tune = document::to_tune(map, mix);
  PACELINE_TRY(confirm(settings, map, fresh, mix, *make_engine, tune));
  PACELINE_TRY(run_grid(settings, map, mix, *make_engine, tune));
  PACELINE_TRY(write_out(report::tune(tune, style_for(text_stream(run.output.json))),
                         document::to_json_text(tune) + "\n", run.output.json));
  if (util::interrupted()) {
    say_how_to_go_on(map, run.output);
    return exit_interrupted;
  }
  if (!tune.best.value)
    return util::fail(util::ErrorKind::not_enough_data,
                      "no length is best, so that nothing was confirmed: " + tune.best.reason);
  return 0;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("tune", about_tune);
  add_run_options(*command, settings->run);
  command->add_flag("--draft", settings->draft, "Find how long to draft")->group("Tuning");
  command
      ->add_option("--p-min", settings->p_mins,
                   "Probabilities below which a draft ends, each with every length")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("SHARE[,..]")
      ->default_str("0")
      ->group("Tuning");
  command
      ->add_option("--fresh-prompts", settings->fresh_prompts,
                   "Prompts of each class that the best length is measured on, beside those "
                   "mapped; 0: it is "
                   "not measured")
      ->check(CLI::Range(0, 1000))
      ->type_name("PROMPTS")
      ->capture_default_str()
      ->group("Tuning");
  command
      ->add_flag("--grid", settings->grid,
                 "Measure every length on the mapped prompts too, which takes many times as long")
      ->group("Tuning");
  command->footer(examples);
  command->callback([settings, &action] { action = [settings] { return tune_with(*settings); }; });
}

}  // namespace paceline::cli
