#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/arms.hpp"
#include "cli/commands.hpp"
#include "cli/measure.hpp"
#include "cli/workload_options.hpp"

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
    "      MTP from the target's own file on your own prompts, and where the time goes\n"
    "  paceline run -m instruct.gguf --workload question.jsonl --class code,prose\n"
    "      MT-Bench as it is published, its first turns through the model's chat template\n"
    "  paceline run -m instruct.gguf --mix code=0.4,prose=0.3,json=0.3\n"
    "      one number for that use, beside those of its classes";

struct Settings {
  ArmSettings arms;
  WorkloadSettings workload;
  Output output;
  study::RunOptions run;
};

/// As CLI::Range, which lets "nan" through.
CLI::Validator finite_between(double low, double high) {
  return {
      [low, high](std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return good ? std::string() : fmt::format("{} is not between {} and {}", text, low, high);
      },
      fmt::format("FLOAT in [{} - {}]", low, high)};
}

CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? "the value is empty" : std::string(); },
          ""};
}

void add_engine_options(CLI::App& run, Settings& settings) {
  ArmSettings& arms = settings.arms;
  run.add_option("-m,--model", arms.model, "Target model (GGUF)")
      ->required()
      ->check(not_empty())
      ->group("Engine");
  run.add_option("--model-draft", arms.draft_model, "Drafter's file (GGUF); -md is the same")
      ->check(not_empty())
      ->group("Engine");
  run.add_option("--spec-type", arms.spec_type, "How drafts are made: draft-dflash, draft-mtp")
      ->group("Engine");
  run.add_option("--spec-draft-n-max", arms.draft_n_max,
                 "Longest draft in tokens; default: the drafter's block - 1, else 3")
      ->check(CLI::Range(1, 64))
      ->group("Engine");
  run.add_option("--arm", arms.extra,
                 "One more arm: TYPE[:N[:FILE]], as in draft-dflash:6 or draft-mtp:3; repeatable")
      ->group("Engine");
  run.add_flag("--no-plain", arms.no_plain, "Leave the plain arm out: there are no speed-ups then")
      ->group("Engine");
  run.add_option("-c,--ctx-size", arms.n_ctx, "Context to allocate, in tokens")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str()
      ->group("Engine");
  run.add_option("-t,--threads", arms.threads, "CPU threads; default: all cores but one")
      ->check(CLI::Range(1, 1024))
      ->group("Engine");
}

void add_sampling_options(CLI::App& run, trace::Sampling& sampling) {
  run.add_option("--temp", sampling.temp, "Temperature; 0 is greedy; default: 0.7")
      ->check(finite_between(0, 100))
      ->group("Sampling");
  run.add_option("--top-k", sampling.top_k, "Keep the k likeliest tokens; 0 is off")
      ->check(CLI::Range(0, 1 << 24))
      ->group("Sampling");
  run.add_option("--top-p", sampling.top_p, "Nucleus; 1 is off")
      ->check(finite_between(0, 1))
      ->group("Sampling");
  run.add_option("--min-p", sampling.min_p, "Least share of the likeliest; 0 is off")
      ->check(finite_between(0, 1))
      ->group("Sampling");
}

void add_measuring_options(CLI::App& run, Settings& settings) {
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
  run.add_flag(
         "--phases", settings.run.phases,
         "One more launch an arm, synchronised after each phase: where a pass spends its time")
      ->group("Measuring");
}

void add_output_options(CLI::App& run, Output& output) {
  run.add_option("--json", output.json, "Write the document there; - is standard output")
      ->group("Output");
  run.add_option("--trace", output.trace,
                 "Write the raw trace there; default: paceline/traces in the data folder")
      ->group("Output");
}

util::Result<int> run_with(Settings settings) {
  PACELINE_TRY_ASSIGN(settings.run.arms, make_arms(settings.arms));
  // Laboratory models have no chat template.
  const auto defaults = workload::defaults_for("lab target", "qwen35", false);
  PACELINE_TRY(choose_workload(settings.workload, defaults, settings.run));
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
  add_workload_options(*run, settings->workload);
  add_measuring_options(*run, *settings);
  add_output_options(*run, settings->output);
  run->callback([settings, &action] { action = [settings] { return run_with(*settings); }; });
}

}  // namespace paceline::cli
