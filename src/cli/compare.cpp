#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "cli/bisect.hpp"
#include "cli/commands.hpp"
#include "cli/comparing.hpp"
#include "cli/output.hpp"
#include "cli/stored_runs.hpp"
#include "cli/words.hpp"
#include "document/assemble.hpp"
#include "document/json.hpp"
#include "machine/machine.hpp"
#include "metrics/summary.hpp"
#include "report/benchstat.hpp"
#include "report/terminal.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace {

constexpr const char* group = "Comparison";

constexpr const char* examples =
    "Examples:\n"
    "  paceline compare -m target.gguf --a '-ctk f16' --b '-ctk q8_0'\n"
    "      two types of KV cache: faster, slower, the same or not to be told, and by which factor\n"
    "  paceline compare -m target.gguf --server-bin old/llama-server --server-bin new/llama-server "
    "\\\n"
    "      --fail-if-slower 3% --junit compare.xml\n"
    "      two builds: what is given twice is A's and then B's; exit code 1 where B is surely "
    "slower\n"
    "      by more than 3 %, 4 where that cannot be told\n"
    "  paceline compare -m target.gguf -md dflash.gguf --a '--arm draft-dflash:4' \\\n"
    "      --b '--arm draft-dflash:7' --looks 3,6,9\n"
    "      two draft lengths; done after 3 or 6 launches where the verdict is clear by then\n"
    "  paceline compare --url http://one:8080 --url http://other:8080 --budget 10m\n"
    "      two servers, as many launches as ten minutes hold\n"
    "  paceline compare monday.jsonl:mtp-n3 tuesday.jsonl:mtp-n3\n"
    "      traces of two runs measured apart: unpaired, so no verdict\n"
    "  paceline compare -m target.gguf --server-bin build/bin/llama-server \\\n"
    "      --bisect b1000 b1100 --repo llama.cpp --build 'cmake --build build -t llama-server'\n"
    "      the commit that made it slower\n\n"
    "Exit codes: 0 done; with --fail-if-slower 1 where B is surely slower by more than that, and "
    "4\n"
    "where it cannot be told.";

struct Settings {
  RunSettings run;  ///< what options are declared with; each side is read anew
  SideWords words;
  CompareRule rule;
  CompareOutput output;
  std::string format = "report";
  std::vector<std::string> runs;
  BisectSettings bisect;
  bool sides_given = false;
};

void add_rule(CLI::App& command, Settings& settings) {
  command
      .add_option("--margin", settings.rule.margin,
                  "Share of A's tok/s under which a difference is none: \"same\" is sure within it")
      ->type_name("SHARE")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--fail-if-slower", settings.rule.fail_if_slower,
                  "Share of A's tok/s that B may be slower by: more ends with exit code 1")
      ->type_name("SHARE")
      ->default_str("no limit")
      ->group(group);
  command
      .add_option("--looks", settings.rule.looks,
                  "Launches after which the verdict is looked for and, if found, the run ends; the "
                  "error of 5 % is shared among them")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000))
      ->type_name("LAUNCHES[,..]")
      ->default_str("at the end alone")
      ->group(group);
  command
      .add_option(
          "--budget", settings.rule.budget,
          "Time for all of it, as 90s, 10m or 1.5h: one launch of each arm is timed, and as "
          "many follow as there is time for")
      ->type_name("TIME")
      ->default_str("none")
      ->group(group);
}

void add_sides(CLI::App& command, Settings& settings) {
  command
      .add_option("runs", settings.runs,
                  "Two stored runs, each an id of the store or the file of a trace, or RUN:ARM; "
                  "nothing is measured then")
      ->type_name("RUN")
      ->expected(0, 2)
      ->default_str("none")
      ->group(group);
  command
      .add_option("--a", settings.words.a,
                  "Options of run for A alone, in quotes; they stand in place of the same outside")
      ->type_name("OPTIONS")
      ->default_str("none")
      ->group(group);
  command.add_option("--b", settings.words.b, "The same for B")
      ->type_name("OPTIONS")
      ->default_str("none")
      ->group(group);
}

void add_bisect(CLI::App& command, BisectSettings& bisect) {
  command
      .add_option("--bisect", bisect.ends,
                  "A good commit and a bad one: git bisect between them, by the verdict of each "
                  "commit's build against the good one's")
      ->expected(2)
      ->type_name("GOOD BAD")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--build", bisect.build, "Shell command that builds a commit, in its checkout")
      ->type_name("COMMAND")
      ->default_str("none")
      ->group(group);
  command
      .add_option("--repo", bisect.repository,
                  "The repository; it is left alone, commits are checked out beside it")
      ->type_name("FOLDER")
      ->capture_default_str()
      ->group(group);
}

void add_output(CLI::App& command, Settings& settings) {
  command.add_option("--format", settings.format, "What is printed")
      ->check(CLI::IsMember({"report", "benchstat"}))
      ->type_name("FORMAT")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--github", settings.output.github,
                  "Append the comparison as Markdown there, as to \"$GITHUB_STEP_SUMMARY\"")
      ->type_name("FILE")
      ->default_str("none")
      ->group(group);
  command.add_option("--junit", settings.output.junit, "Write it as JUnit XML there")
      ->type_name("FILE")
      ->default_str("none")
      ->group(group);
}

std::string text_of(const Settings& settings, const document::Document& document) {
  return settings.output.benchstat ? report::benchstat(document)
                                   : report::terminal(document, style_for(stdout));
}

util::Result<int> compare_stored(const Settings& settings) {
  if (settings.runs.size() != 2)
    return util::misused("one stored run is named, and a comparison needs two");
  for (const auto& option : settings.words.shared)
    if (option.name != "--json" && option.name != "--db" &&
        (option.name != "--launches" || settings.rule.launches_given))
      return util::misused("two stored runs are named, and {} says how to measure: leave one out",
                           option.name);
  if (settings.sides_given || settings.rule.fail_if_slower)
    return util::misused(
        "stored runs were measured apart, and are neither passed nor failed: leave "
        "--a, --b and --fail-if-slower out");
  PACELINE_TRY_ASSIGN(const double margin, read_share("--margin", settings.rule.margin));
  PACELINE_TRY_ASSIGN(const auto joined, joined_runs(settings.runs[0], settings.runs[1],
                                                     settings.run.output.db, margin));
  const trace::Mix mix = metrics::mix_of(joined.trace);
  auto document =
      document::assemble(joined.trace, metrics::summarise(joined.trace, mix), mix, joined.machine);
  document.machine = document::to_machine(joined.machine, joined.unread);
  const auto& json = settings.run.output.json;
  PACELINE_TRY(check_json_path(json, settings.runs));
  PACELINE_TRY(check_files(settings.output));
  PACELINE_TRY(write_files(document, settings.output));
  PACELINE_TRY(
      write_out(text_of(settings, document), document::to_json_text(document) + "\n", json));
  return 0;
}

bool any_twice(const std::vector<GivenOption>& options) {
  for (const auto& option : options)
    if (option.of_a_side && !option.is_flag && !option.is_list && option.values.size() > 1)
      return true;
  return false;
}

util::Result<int> compare(const Settings& settings) {
  if (!settings.runs.empty()) return compare_stored(settings);
  PACELINE_TRY(check_files(settings.output));
  if (!settings.bisect.ends.empty() && settings.run.output.resume)
    return util::misused(
        "a bisection is many studies, and the checkouts that it built are gone: begin it again "
        "from "
        "the last commit that it called good to the first that it called bad, which it printed: "
        "--bisect GOOD BAD without --resume");
  if (!settings.bisect.ends.empty()) return bisect(settings.bisect, settings.words, settings.rule);
  if (!settings.sides_given && !any_twice(settings.words.shared))
    return util::misused(
        "A and B are the same: say what differs with --a and --b, or give an option twice, as in "
        "--server-bin OLD --server-bin NEW");
  PACELINE_TRY_ASSIGN(Sides sides, plan_comparison(settings.words, settings.rule));
  if (settings.output.benchstat) sides.output.render = report::benchstat;
  PACELINE_TRY_ASSIGN(const Compared compared, measure_comparison(sides));
  if (!compared.document) return compared.exit_code;
  PACELINE_TRY(write_files(*compared.document, settings.output));
  return compared.exit_code != 0 ? compared.exit_code : exit_code_of(*compared.document);
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  settings->run.run.rounds = 5;
  CLI::App* command = app.add_subcommand(
      "compare",
      "Hold B against A (settings, models, builds, servers): faster, slower, the same or not to be "
      "told, taken apart into passes/s and tokens/pass, with A measured again beside them");
  command->footer(examples);
  add_sides(*command, *settings);
  add_rule(*command, *settings);
  add_bisect(*command, settings->bisect);
  add_output(*command, *settings);
  add_run_options(*command, settings->run);
  let_sides_differ(*command);
  command->callback([settings, command, &action] {
    for (auto& option : given_options(*command))
      if (command->get_option(option.name)->get_group() != group &&
          option.name != command->get_help_ptr()->get_name())
        settings->words.shared.push_back(std::move(option));
    settings->sides_given = command->count("--a") + command->count("--b") > 0;
    settings->rule.launches_given = command->count("--launches") > 0;
    if (!settings->rule.launches_given)
      settings->words.shared.push_back(
          {"--launches", {std::to_string(settings->run.run.rounds)}, false, false, false});
    settings->output.benchstat = settings->format == "benchstat";
    action = [settings] { return compare(*settings); };
  });
}

}  // namespace paceline::cli
