#include "report/demo.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/arms.hpp"
#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "cli/store_options.hpp"
#include "engine/embedded/embedded_engine.hpp"
#include "study/derived.hpp"
#include "util/console.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"
#include "workload/prompts.hpp"
#include "workload/selection.hpp"

namespace paceline::cli {

namespace {

constexpr study::Derivation demo_ballast{.extra_layers = 6, .feed_forward = 2048};
constexpr int demo_prompts_per_class = 10;
constexpr int demo_output_tokens = 24;

constexpr const char* about_demo =
    "Measures a small trained model, made heavy, plain and with DFlash and MTP drafters, on "
    "held-out text of six classes; says where speculation pays on this machine and why.";

struct Settings {
  std::optional<int> threads;
  Output output;
};

util::Result<int> demo(const Settings& settings) {
  engine::embedded::EmbeddedEngine writer(worker_program());
  util::say("Paceline's demo: about 3 minutes on two cores.");
  const auto target = study::derived(util::shipped("models/target-mtp-f16.gguf"), demo_ballast,
                                     util::cache_folder(), writer, util::interrupted);
  writer.close();
  if (util::interrupted()) return exit_interrupted;
  if (!target) return tl::unexpected<util::Error>(target.error());

  ArmSettings arms;
  arms.model = target->string();
  arms.draft_model = util::shipped("models/dflash-f16.gguf").string();
  arms.extra = {"draft-dflash:6", "draft-dflash:7", "draft-mtp:3"};
  arms.n_ctx = 512;
  arms.threads = settings.threads;

  study::RunOptions options;
  PACELINE_TRY_ASSIGN(options.arms, make_arms(arms));
  PACELINE_TRY_ASSIGN(const auto lab, workload::load_workload("lab"));
  PACELINE_TRY_ASSIGN(auto chosen, workload::select(lab.prompts, {}, demo_prompts_per_class));
  PACELINE_TRY_ASSIGN(options.prompts, workload::in_form(std::move(chosen), options.prompt_form));
  options.workload = "lab";
  options.n_predict = demo_output_tokens;
  options.widths = true;
  options.ceilings = true;
  options.widest = widest_pass(options.arms);
  const auto make_engine = [](const trace::Arm&) {
    return std::make_unique<engine::embedded::EmbeddedEngine>(worker_program());
  };
  return measure(options, settings.output, make_engine, report::demo_paragraph);
}

}  // namespace

void add_demo(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("demo", about_demo);
  command->footer("Example:\n  paceline demo --json demo.json");
  command->add_option("-t,--threads", settings->threads, "CPU threads of the engine")
      ->check(CLI::Range(1, 1024))
      ->type_name("THREADS")
      ->default_str("all cores but one");
  command
      ->add_option("--json", settings->output.json,
                   "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("none");
  command->add_option("--trace", settings->output.trace, "Write the raw trace there, too")
      ->type_name("FILE")
      ->default_str("in the store alone");
  add_store_options(*command, settings->output);
  command->callback([settings, &action] { action = [settings] { return demo(*settings); }; });
}

}  // namespace paceline::cli
