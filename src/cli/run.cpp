#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/format_option.hpp"
#include "cli/run_settings.hpp"
#include "util/interrupt.hpp"

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
    "  paceline run -m target.gguf --arm ngram-simple:4/7 --arm ngram-mod\n"
    "      drafts from the text itself, which need no drafter file\n"
    "  paceline run -m instruct.gguf --workload question.jsonl --class code,prose\n"
    "      MT-Bench as it is published, its first turns through the model's chat template\n"
    "  paceline run -m instruct.gguf --mix code=0.4,prose=0.3,json=0.3\n"
    "      one number for that use, beside those of its classes\n"
    "  paceline run --server-bin ./llama-server -m target.gguf --spec-type draft-mtp\n"
    "      the same from your own llama-server, started afresh for every launch\n"
    "  paceline run --url http://host:8000 --url-plain http://host:8001\n"
    "      a running server against its plain twin\n"
    "  paceline run -m target.gguf --spec-type draft-mtp --format llama-bench-md\n"
    "      rows to paste beside those of llama-bench\n"
    "  paceline run --server-bin ./llama-server -m target.gguf --spec-type draft-mtp \\\n"
    "      --concurrency 1,2,4,8\n"
    "      where speculation stops paying when requests run side by side";

constexpr const char* fill_examples =
    "Examples:\n"
    "  paceline fill -m target.gguf -c 32768\n"
    "      to the end of the context, plain: prefill, decoding and memory on the way\n"
    "  paceline fill -m target.gguf --spec-type draft-mtp --depths 0,4k,16k,64k --class "
    "code,prose\n"
    "      plain and MTP at each depth, and where speculation stops paying";

util::Result<int> run_with(RunSettings settings) {
  const auto make_engine = plan_run(settings);
  if (util::interrupted()) return exit_interrupted;
  PACELINE_TRY(make_engine);
  return measure(settings.run, settings.output, *make_engine);
}

void add_options(CLI::App* run, const std::shared_ptr<RunSettings>& settings, Action& action) {
  add_run_options(*run, *settings);
  add_format_option(*run, settings->output);
  run->callback([settings, &action] { action = [settings] { return run_with(*settings); }; });
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* run = app.add_subcommand("run", "Measure a model, plain and with drafters");
  run->footer(examples);
  add_options(run, std::make_shared<RunSettings>(), action);
}

void add_fill(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<RunSettings>();
  settings->workload.depths.to_the_end = true;
  settings->run.rounds = 1;
  settings->workload.prompts_per_class = 4;
  CLI::App* fill = app.add_subcommand(
      "fill",
      "Fill the context for real, from depth to depth, and measure prefill, decoding and memory at "
      "each: as run with --depth, to the end of -c unless depths are given");
  fill->footer(fill_examples);
  add_options(fill, settings, action);
}

}  // namespace paceline::cli
