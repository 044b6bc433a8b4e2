#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/arms.hpp"
#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "workload/prompts.hpp"

namespace paceline::cli {

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  paceline run -m target.gguf\n"
    "      plain decoding: its passes/s, prefill and what ran, 1.00 token per pass\n"
    "  paceline run -m target.gguf -md dflash.gguf --spec-type draft-dflash\n"
    "      plain against DFlash with its own longest draft\n"
    "  paceline run -m target.gguf -md dflash.gguf --arm draft-dflash:6 --arm draft-dflash:7 \\\n"
    "      --arm draft-mtp:3 --class json,prose --json report.json\n"
    "      three drafters side by side on two classes, with the document kept\n"
    "  paceline run -m target.gguf --spec-type draft-mtp --workload my.jsonl -n 256 --phases\n"
    "      MTP from the target's own file on your own prompts, and where the time goes";

struct Settings {
  ArmSettings arms;
  std::string workload = "lab";
  std::vector<std::string> classes;
  int prompts_per_class = 12;
  Output output;
  study::RunOptions run;
};

constexpr const char* engines_own = "the model's file, else the engine's own";

/// As CLI::Range, which lets "nan" through.
CLI::Validator finite_between(double low, double high) {
  return {
      [low, high](std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return good ? std::string() : fmt::format("{} is not between {} and {}", text, low, high);
      },
      fmt::format("[{} - {}]", low, high)};
}

CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? "the value is empty" : std::string(); },
          ""};
}

void add_engine_options(CLI::App& run, Settings& settings) {
  ArmSettings& arms = settings.arms;
  run.add_option("-m,--model", arms.model, "Target model (GGUF)")
      ->required()
      ->type_name("FILE")
      ->check(not_empty())
      ->group("Engine");
  run.add_option("--model-draft", arms.draft_model, "Drafter's file (GGUF)")
      ->type_name("FILE")
      ->default_str("none")
      ->check(not_empty())
      ->group("Engine");
  run.add_option("--spec-type", arms.spec_type, "How drafts are made")
      ->type_name("none|draft-dflash|draft-mtp")
      ->default_str("none")
      ->group("Engine");
  run.add_option("--spec-draft-n-max", arms.draft_n_max, "Longest draft")
      ->check(CLI::Range(1, 64))
      ->type_name("TOKENS")
      ->default_str("the drafter's block - 1, else 3")
      ->group("Engine");
  run.add_option("--arm", arms.extra,
                 "One more arm: TYPE[:N[:FILE]], as in draft-dflash:6 or draft-mtp:3")
      ->type_name("ARM")
      ->default_str("none")
      ->group("Engine");
  run.add_flag("--no-plain", arms.no_plain, "Leave the plain arm out: there are no speed-ups then")
      ->group("Engine");
  run.add_option("-c,--ctx-size", arms.n_ctx, "Context to allocate")
      ->check(CLI::Range(16, 1 << 20))
      ->type_name("TOKENS")
      ->capture_default_str()
      ->group("Engine");
  run.add_option("-t,--threads", arms.threads, "CPU threads of the engine")
      ->check(CLI::Range(1, 1024))
      ->type_name("THREADS")
      ->default_str("all cores but one")
      ->group("Engine");
}

void add_sampling_options(CLI::App& run, trace::Sampling& sampling) {
  run.add_option("--temp", sampling.temp, "Temperature; 0 is greedy")
      ->check(finite_between(0, 100))
      ->type_name("NUMBER")
      ->default_str("the model's file, else 0.7")
      ->group("Sampling");
  run.add_option("--top-k", sampling.top_k, "Keep the k likeliest tokens; 0 is off")
      ->check(CLI::Range(0, 1 << 24))
      ->type_name("TOKENS")
      ->default_str(engines_own)
      ->group("Sampling");
  run.add_option("--top-p", sampling.top_p, "Nucleus; 1 is off")
      ->check(finite_between(0, 1))
      ->type_name("SHARE")
      ->default_str(engines_own)
      ->group("Sampling");
  run.add_option("--min-p", sampling.min_p, "Least share of the likeliest; 0 is off")
      ->check(finite_between(0, 1))
      ->type_name("SHARE")
      ->default_str(engines_own)
      ->group("Sampling");
}

void add_measuring_options(CLI::App& run, Settings& settings) {
  run.add_option("--workload", settings.workload,
                 "lab, or a file of JSON lines: {\"id\", \"class\", \"text\"}")
      ->type_name("NAME or FILE")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("--class", settings.classes, "Only these classes")
      ->delimiter(',')
      ->type_name("CLASS,..")
      ->default_str("all")
      ->group("Measuring");
  run.add_option("--prompts", settings.prompts_per_class, "Prompts of each class")
      ->check(CLI::Range(1, 100000))
      ->type_name("PROMPTS")
      ->capture_default_str()
      ->group("Measuring");
  run.add_option("-n,--n-predict", settings.run.n_predict,
                 "Output cap, equal for every request; a stop token ends earlier")
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
  run.add_flag(
         "--phases", settings.run.phases,
         "One more launch an arm, synchronised after each phase: where a pass spends its time")
      ->group("Measuring");
}

void add_output_options(CLI::App& run, Output& output) {
  run.add_option("--json", output.json, "Write the document there; - is standard output")
      ->type_name("FILE")
      ->default_str("none")
      ->group("Output");
  run.add_option("--trace", output.trace, "Write the raw trace there")
      ->type_name("FILE")
      ->default_str("paceline/traces in the data folder")
      ->group("Output");
}

util::Result<int> run_with(Settings settings) {
  PACELINE_TRY_ASSIGN(settings.run.arms, make_arms(settings.arms));
  PACELINE_TRY_ASSIGN(const auto prompts, workload::load_workload(settings.workload));
  PACELINE_TRY_ASSIGN(settings.run.prompts,
                      workload::select(prompts, settings.classes, settings.prompts_per_class));
  settings.run.workload = settings.workload;
  settings.run.widths = true;
  settings.run.widest = widest_pass(settings.run.arms);
  return measure(settings.run, settings.output);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* run = app.add_subcommand("run", "Measure a model, plain and with drafters");
  run->footer(examples);
  add_engine_options(*run, *settings);
  add_sampling_options(*run, settings->arms.sampling);
  add_measuring_options(*run, *settings);
  add_output_options(*run, settings->output);
  run->callback([settings, &action] { action = [settings] { return run_with(*settings); }; });
}

}  // namespace paceline::cli
