#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cli/commands.hpp"
#include "cli/format_option.hpp"
#include "cli/run_settings.hpp"
#include "cli/sweep_points.hpp"
#include "metrics/interval.hpp"
#include "study/halving.hpp"
#include "study/held_out.hpp"
#include "util/interrupt.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  paceline sweep -m target.gguf --spec-type draft-mtp --vary spec-draft-n-max=1..8,12,15\n"
    "      which draft length is fastest, and which are not worse, as far as can be told\n"
    "  paceline sweep -m target.gguf -md dflash.gguf --spec-type draft-dflash \\\n"
    "      --vary spec-draft-n-max=2..15 --vary ctk=f16,q8_0 --vary threads=2,4\n"
    "      a large grid, the slower half of which is left out from round to round\n"
    "  paceline sweep -m target.gguf --spec-type draft-mtp --around spec-draft-n-max=3 \\\n"
    "      --vary spec-draft-n-max=1..6 --vary ctk=f16,q8_0 --vary threads=1,2\n"
    "      one option at a time around a point\n"
    "  paceline sweep -m target.gguf --vary server-bin=old/llama-server,new/llama-server\n"
    "      two builds, plain";

struct Settings {
  RunSettings run;
  SweepSettings sweep;
};

util::Result<void> refuse_what_is_no_sweep(const RunSettings& settings) {
  if (settings.server.is_remote())
    return util::misused(
        "--url names a server that runs, and a sweep starts its own: leave it out");
  if (settings.price_defaults || settings.run.phases || settings.run.loads.any())
    return util::misused(
        "--price-defaults, --phases, --concurrency and --rate are for `paceline run`: sweep first, "
        "then run the winner with them");
  return {};
}

/// Why the held-out prompts do not suffice; empty where they do.
std::string too_few_held_out(const workload::Selection& prompts) {
  std::map<std::string, std::set<std::string>> families;
  for (const auto& prompt : prompts.measured) families[prompt.workload_class];
  for (const auto& prompt : prompts.held_out) families[prompt.workload_class].insert(prompt.family);
  for (const auto& [name, left] : families)
    if (left.size() < metrics::fewest_families)
      return fmt::format(
          "class {} has {} independent prompts beside those that the winner is chosen by, and {} "
          "are needed: choose by fewer (--prompts) or give a --workload with more",
          name, left.size(), metrics::fewest_families);
  return "";
}

std::string rule_of(const trace::Sweep& sweep) {
  const std::string best = "the best has the highest tokens per second of the mix";
  if (sweep.method != trace::SweepMethod::halving)
    return fmt::format("Every point was launched {} times, interleaved; {}.", sweep.rungs.size(),
                       best);
  return fmt::format(
      "Successive halving: rounds launched {} points, the slowest by the mix's tokens per second "
      "over all rounds so far being left out and ranked no more; {}.",
      fmt::join(sweep.rungs, ", "), best);
}

/// Rounds, rungs and what follows, once arms and prompts are known.
void plan_rounds(study::RunOptions& run) {
  trace::Sweep& sweep = *run.sweep;
  if (sweep.method == trace::SweepMethod::halving) {
    sweep.rungs = study::halving_rungs(sweep.points.size(), run.rounds);
    run.rounds = static_cast<int>(sweep.rungs.size());
    run.selection = study::halving(run);
  } else {
    sweep.rungs.assign(static_cast<std::size_t>(run.rounds), static_cast<int>(sweep.points.size()));
  }
  sweep.rule = rule_of(sweep);
  sweep.no_held_out = too_few_held_out(run.prompts);
  if (!sweep.no_held_out.empty()) return;
  sweep.held_out_rounds = std::max(run.rounds, study::fewest_held_out_launches);
  run.sequel = study::held_out_run(run);
}

util::Result<int> sweep_with(Settings settings) {
  RunSettings& run = settings.run;
  PACELINE_TRY(refuse_what_is_no_sweep(run));
  PACELINE_TRY_ASSIGN(const auto servers, varied_servers(settings.sweep));
  if (!servers.empty() && !run.server.server_bin) run.server.server_bin = servers.front();
  run.workload.held_out_per_class = run.workload.prompts_per_class;
  run.make_arms = [&](const ArmSettings& base) -> util::Result<std::vector<trace::Arm>> {
    PACELINE_TRY_ASSIGN(auto swept, make_points(base, settings.sweep));
    run.run.sweep = std::move(swept.sweep);
    return std::move(swept.arms);
  };
  const auto make_engine = plan_run(run);
  if (util::interrupted()) return exit_interrupted;
  PACELINE_TRY(make_engine);
  run.run.widths = run.widest.has_value();
  run.run.ceilings = false;
  plan_rounds(run.run);
  return measure(run.run, run.output, *make_engine);
}

}  // namespace

void add_sweep(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* sweep = app.add_subcommand(
      "sweep",
      "Measure an arm at many values of its options; the set not worse than the best, and the "
      "winner again on prompts that nothing was chosen by");
  sweep->footer(examples);
  const char* const group = "Sweep";
  sweep
      ->add_option("--vary", settings->sweep.vary,
                   "An option of an arm and its values, as in spec-draft-n-max=1..8,12,15 or "
                   "ctk=f16,q8_0; ranges may have a step, as in 2..16:2. Several give every "
                   "combination")
      ->type_name("NAME=VALUES")
      ->required()
      ->group(group);
  sweep
      ->add_option("--around", settings->sweep.around,
                   "One option at a time around a point instead; options that are not named here "
                   "have their first value there")
      ->type_name("NAME=VALUE")
      ->default_str("every combination")
      ->group(group);
  CLI::Option* full =
      sweep->add_flag("--full", settings->sweep.full, "Launch every point in every round")
          ->group(group);
  sweep
      ->add_flag("--halving", settings->sweep.halving,
                 fmt::format("Leave the slower half of the points out from round to round, until 4 "
                             "are left; by itself over {} points",
                             most_full_points))
      ->excludes(full)
      ->group(group);
  add_run_options(*sweep, settings->run);
  add_format_option(*sweep, settings->run.output);
  sweep->callback([settings, &action] { action = [settings] { return sweep_with(*settings); }; });
}

}  // namespace paceline::cli
