#include "document/score.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/store_options.hpp"
#include "cli/stored_runs.hpp"
#include "report/score.hpp"
#include "workload/prompts.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_score =
    "Says how many answers of a run are right, by task and depth, where its workload has questions "
    "with answers; measures nothing.";

struct Settings {
  std::string run;
  std::optional<std::string> workload;
  std::optional<std::string> db;
};

util::Result<int> score(const Settings& settings) {
  PACELINE_TRY_ASSIGN(const auto trace, read_run(settings.run, settings.db));
  PACELINE_TRY(refuse_map(trace));
  const std::string workload = settings.workload.value_or(trace.header.workload);
  PACELINE_TRY_ASSIGN(const auto read, workload::load_workload(workload));
  const auto scored = document::to_score(trace, read.prompts);
  if (scored.rows.empty())
    return util::fail(util::ErrorKind::usage,
                      settings.run + " holds no answer to a question of " + workload +
                          ": measure with --workload evaluation, or name the workload that has "
                          "the questions");
  const auto report = report::score(scored, style_for(stdout));
  PACELINE_TRY(write_out(report, "", std::nullopt));
  return 0;
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("score", about_score);
  command
      ->add_option("run", settings->run, "A stored run: an id of the store or the file of a trace")
      ->type_name("RUN")
      ->required();
  command
      ->add_option("--workload", settings->workload,
                   "The questions: evaluation, or a file whose prompts have answers")
      ->type_name("NAME|FILE")
      ->default_str("that of the run");
  add_db_option(*command, settings->db);
  command->footer(
      "Examples:\n"
      "  paceline run -m models/target-mtp-f16.gguf --workload evaluation --prompts 1000 \\\n"
      "      -n 48 --temp 0 --launches 1\n"
      "  paceline score last\n"
      "  paceline score answers.jsonl           the same of a trace that --trace wrote");
  command->callback([settings, &action] { action = [settings] { return score(*settings); }; });
}

}  // namespace paceline::cli
