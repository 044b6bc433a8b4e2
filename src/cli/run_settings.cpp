#include "cli/run_settings.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>

#include "cli/engine_options.hpp"
#include "cli/load_options.hpp"
#include "cli/store_options.hpp"

namespace paceline::cli {

namespace {

void add_measuring_options(CLI::App& run, RunSettings& settings) {
  run.add_option(
         "-n,--n-predict", settings.run.n_predict,
         "Output cap, the same for every request; an end-of-generation token ends an output "
         "earlier and is counted")
      ->check(CLI::Range(2, 1 << 18))
      ->type_name("TOKENS")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("--launches", settings.run.rounds, "Fresh loads of every arm")
      ->check(CLI::Range(1, 1000))
      ->type_name("LAUNCHES")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("--seed", settings.run.seed, "Of the order of arms and prompts and the samplers")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->type_name("NUMBER")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("--patience", settings.run.patience_s,
                 "Silence after which a request, or an engine, is given up")
      ->check(CLI::Range(1, 86400))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("--exclude-steal", settings.run.exclude_steal,
                 "Leave requests out of every figure during which the hypervisor took more than "
                 "this share of all CPU time; the rule is recorded before the run")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("SHARE")
      ->default_str("none is left out")
      ->group("Measuring");
  run.add_flag("--ignore-eos", settings.run.ignore_eos,
               "Servers go on to the output cap; what follows an end-of-generation token is no "
               "text of any use, and its acceptance neither")
      ->group("Measuring");
  run.add_flag("--warm-session", settings.run.warm_session,
               "Keep what drafters learn from one request to the next; KV caches are still reset")
      ->group("Measuring");
  run.add_flag(
         "--force-text", settings.run.force_text,
         "Every arm follows one text token by token, that plain writes first, untimed: texts "
         "of all arms are the same at any temperature, and drafts are accepted as far as they "
         "agree with it")
      ->group("Measuring");
  run.add_flag("--price-defaults", settings.price_defaults,
               "One more arm beside each, for every default of the sampler that filters or "
               "reshapes the text unasked, without it: what it costs in passes/s and tokens/pass")
      ->group("Measuring");
  run.add_flag(
         "--phases", settings.run.phases,
         "One more launch an arm, synchronised after each phase: where a pass spends its time")
      ->group("Measuring");
  run.add_option("--widths", settings.widest, "Widest pass that is timed alone on the plain arm")
      ->check(CLI::Range(1, most_widest_pass))
      ->type_name("TOKENS")
      ->default_str("two past the longest draft, 8 to 16")
      ->group("Measuring");
}

void add_output_options(CLI::App& run, Output& output) {
  run.add_option("--json", output.json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("none")
      ->group("Output");
  run.add_option("--trace", output.trace, "Write the raw trace there, too")
      ->type_name("FILE")
      ->default_str("in the store alone")
      ->group("Output");
  run.add_flag("--dry-run", output.dry_run, "Say what would be done and end")->group("Output");
}

}  // namespace

void add_run_options(CLI::App& app, RunSettings& settings) {
  add_engine_options(app, settings.arms);
  add_derivation_options(app, settings.copies);
  add_server_options(app, settings.server);
  add_sampling_options(app, settings.arms.sampling);
  add_workload_options(app, settings.workload);
  add_depth_options(app, settings.workload.depths);
  add_measuring_options(app, settings);
  add_load_options(app, settings.run.loads);
  add_output_options(app, settings.output);
  add_store_options(app, settings.output);
  app.parse_complete_callback(
      [&app, &settings] { settings.context_given = app.count("--ctx-size") > 0; });
}

}  // namespace paceline::cli
