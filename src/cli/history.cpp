#include "document/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/sizes.hpp"
#include "cli/store_options.hpp"
#include "cli/stored_runs.hpp"
#include "document/assemble.hpp"
#include "document/json.hpp"
#include "metrics/predicted_run.hpp"
#include "metrics/summary.hpp"
#include "report/comparison.hpp"
#include "report/demo.hpp"
#include "report/history.hpp"
#include "report/terminal.hpp"
#include "report/tune.hpp"
#include "report/wrap.hpp"
#include "store/import.hpp"
#include "trace/trace_file.hpp"
#include "util/clock.hpp"
#include "util/console.hpp"
#include "util/files.hpp"
#include "util/misused.hpp"
#include "util/printable.hpp"

namespace paceline::cli {

namespace {

constexpr const char* about_history =
    "The studies that were made on this machine, which all that measures is kept among: "
    "list them, show one again, export and import them, remove one, and clear the oldest away.";

constexpr const char* examples =
    "Examples:\n"
    "  paceline history list --model qwen --since 2026-11\n"
    "  paceline history show last             the report again, from the raw records\n"
    "  paceline history show 4f1c0a --requests --outcome failed\n"
    "  paceline history export 4f1c0a trace.jsonl\n"
    "  paceline history import trace.jsonl    such a trace, or one from another machine\n"
    "  paceline history diff 4f1c0a last      what differs, and the figures side by side\n"
    "  paceline history tag last before-the-update\n"
    "  paceline history remove 4f1c0a\n"
    "  paceline history prune --keep-bytes 1GB --dry-run\n\n"
    "STUDY is an id, a part of it that no other has, or last.";

struct Settings {
  std::string action;
  std::vector<std::string> words;
  std::optional<std::string> db;
  std::optional<std::string> json;
  store::StudyFilter studies;
  store::RequestFilter requests;
  bool shows_requests = false;
  bool all = false;
  bool removes = false;
  bool dry_run = false;
  std::optional<std::string> keep_bytes;
  std::optional<double> older_days;
};

document::HistoryStudy line_of(const store::StudyRow& row) {
  document::HistoryStudy study;
  study.id = row.id;
  study.created = row.created;
  study.command = document::known_or(row.kind, "its trace does not say");
  study.tool_version = row.tool_version;
  study.state = store::failed_throughout(row) ? "failed" : row.state;
  study.models = row.models;
  study.workload = row.workload;
  study.launches = row.launches;
  study.requests = row.requests;
  study.requests_failed = row.failed;
  study.requests_superseded = row.superseded;
  study.resumed = row.resumed;
  study.bytes = row.bytes;
  study.tags = row.tags;
  return study;
}

document::History history_of(const std::vector<store::StudyRow>& rows) {
  document::History history;
  history.tool = {"paceline", PACELINE_VERSION};
  for (const auto& row : rows) history.studies.push_back(line_of(row));
  return history;
}

util::Result<void> list(const Settings& settings, store::Store& store) {
  PACELINE_TRY(check_json_path(settings.json, {store_file(settings.db).string()}));
  PACELINE_TRY_ASSIGN(const auto rows, store.list(settings.studies));
  const auto history = history_of(rows);
  return write_out(report::history(history, style_for(text_stream(settings.json))),
                   document::to_json_text(history) + "\n", settings.json);
}

/// A study with its figures, computed again.
struct Shown {
  trace::Trace trace;
  document::Document document;
};

util::Result<trace::Trace> trace_of(const store::StudyRow& row, store::Store& store) {
  PACELINE_TRY_ASSIGN(auto builder, store.build(row));
  return builder.finish();
}

util::Result<Shown> shown(const store::StudyRow& row, store::Store& store) {
  Shown result;
  PACELINE_TRY_ASSIGN(result.trace, trace_of(row, store));
  PACELINE_TRY(refuse_map(result.trace));
  const auto mix = metrics::mix_of(result.trace);
  const auto machine = result.trace.about ? result.trace.about->machine : trace::MachineFacts();
  result.document =
      document::assemble(result.trace, metrics::summarise(result.trace, mix), mix, machine);
  if (row.kind == "demo") result.document.said = report::demo_paragraph(result.document);
  if (!result.document.comparisons.empty())
    result.document.said = report::verdict_sentence(result.document.comparisons.front());
  return result;
}

util::Result<void> show_requests(const Settings& settings, const store::StudyRow& row,
                                 store::Store& store) {
  PACELINE_TRY_ASSIGN(const auto rows, store.requests(row, settings.requests));
  std::vector<document::HistoryRequest> lines;
  for (const auto& request : rows)
    lines.push_back({request.launch, request.superseded, request.arm, request.prompt_id,
                     request.workload_class, request.outcome, request.in_load,
                     document::known_or(request.output_tokens, "it was not counted"),
                     document::known_or(request.decode_s, "it was not counted")});
  return write_out(report::requests(lines, style_for(stdout)), "", std::nullopt);
}

/// What is kept of launches that were cut off, which no figure has.
std::string superseded_text(const std::vector<store::LaunchRow>& launches) {
  std::string text;
  for (const auto& launch : launches)
    if (launch.superseded)
      text += fmt::format(
          "  Superseded: launch {} of {} with {} finished requests, cut off and made "
          "again; no figure has them.\n",
          launch.number, util::printable(launch.arm), launch.requests);
  return text;
}

/// Why nothing of a study was done.
std::string failure_text(const store::StudyRow& row, const trace::Trace& trace,
                         const report::Style& style) {
  if (!store::failed_throughout(row)) return "";
  std::string reason;
  const auto note = [&reason](const trace::Outcome& outcome) {
    if (reason.empty() && outcome.kind != trace::OutcomeKind::done)
      reason = util::printable(outcome.reason);
  };
  for (const auto& launch : trace.launches) {
    note(launch.outcome);
    for (const auto& request : launch.requests) note(request.outcome);
  }
  if (reason.empty()) reason = "the trace does not say why";
  return report::wrapped("  Failed: " + reason, 2, style.width);
}

/// What tune and predict made of a map; its confirmation is a study of its own.
util::Result<void> show_map(const Settings& settings, const store::StudyRow& row,
                            const trace::Trace& trace) {
  const trace::Mix mix =
      trace.header.mix ? *trace.header.mix : metrics::equal_mix(metrics::predict_run(trace).trace);
  const auto made = document::to_tune(trace, mix);
  const auto style = style_for(text_stream(settings.json));
  return write_out(report::history(history_of({row}), style) + failure_text(row, trace, style) +
                       "\n" + report::tune(made, style),
                   document::to_json_text(made) + "\n", settings.json);
}

util::Result<void> show(const Settings& settings, store::Store& store) {
  PACELINE_TRY(check_json_path(settings.json, {store_file(settings.db).string()}));
  PACELINE_TRY_ASSIGN(const auto row, store.find(settings.words[0]));
  if (settings.shows_requests) return show_requests(settings, row, store);
  if (settings.requests.arm || settings.requests.workload_class || settings.requests.outcome)
    return util::fail(util::ErrorKind::usage,
                      "--arm, --class and --outcome choose requests: add --requests");
  PACELINE_TRY_ASSIGN(const auto trace, trace_of(row, store));
  if (metrics::is_map(trace)) return show_map(settings, row, trace);
  PACELINE_TRY_ASSIGN(const auto study, shown(row, store));
  PACELINE_TRY_ASSIGN(const auto launches, store.launches(row));
  const auto style = style_for(text_stream(settings.json));
  return write_out(report::history(history_of({row}), style) + failure_text(row, trace, style) +
                       "\n" + report::terminal(study.document, style) + superseded_text(launches),
                   document::to_json_text(study.document) + "\n", settings.json);
}

/// What is there and no ordinary file, as a pipe, is written to.
util::Result<void> check_not_a_file(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  return trace::check_new(path);
}

util::Result<void> export_studies(const Settings& settings, store::Store& store) {
  std::vector<store::StudyRow> rows;
  const std::size_t file_at = settings.all ? 0 : 1;
  if (settings.all) {
    PACELINE_TRY_ASSIGN(rows, store.list({}));
    std::reverse(rows.begin(), rows.end());
  } else if (settings.words.empty()) {
    return util::fail(util::ErrorKind::usage, "export what? Name a STUDY, or give --all");
  } else {
    PACELINE_TRY_ASSIGN(auto row, store.find(settings.words[0]));
    rows.push_back(std::move(row));
  }
  if (settings.words.size() > file_at + 1)
    return util::fail(util::ErrorKind::usage, "export writes one file: leave the others out");
  if (settings.words.size() > file_at) PACELINE_TRY(check_not_a_file(settings.words[file_at]));
  std::string text;
  for (const auto& row : rows) {
    PACELINE_TRY_ASSIGN(const auto lines, store.lines(row));
    text += lines;
  }
  if (settings.words.size() == file_at) return write_out(text, "", std::nullopt);
  PACELINE_TRY(util::write_file(settings.words[file_at], text));
  util::say(fmt::format("Wrote {} to {}",
                        rows.size() == 1 ? rows[0].id : fmt::format("{} studies", rows.size()),
                        settings.words[file_at]));
  return {};
}

/// An error where any study of the file is not taken in; the others are.
util::Result<void> import_file(const Settings& settings, store::Store& store) {
  const std::string& file = settings.words[0];
  PACELINE_TRY_ASSIGN(const auto text, util::read_file(file));
  const auto traces = store::split_traces(text);
  if (traces.studies.empty())
    return util::misused("{}: this is no trace: it has no header line", file);
  std::vector<std::string> refused;
  for (const auto& study : traces.studies) {
    const auto taken = store::import_study(store, study);
    if (taken)
      util::say(fmt::format("Stored as {}{} (paceline history show {}{})", study.id,
                            *taken ? ", in place of a shorter copy" : "", study.id,
                            db_words(settings.db)));
    else if (taken.error().kind == util::ErrorKind::usage)
      refused.push_back(fmt::format("{}: {}", file, taken.error().message));
    else {
      for (const auto& why : refused) util::say(why);
      return tl::unexpected<util::Error>(taken.error());
    }
  }
  if (traces.cut_line)
    util::say(
        fmt::format("{}: line {} is cut off and was left out: the study in it is not whole; "
                    "importing the whole file later replaces it",
                    file, *traces.cut_line));
  if (refused.empty()) return {};
  if (traces.studies.size() == 1) return util::misused("{}", refused.front());
  for (const auto& why : refused) util::say(why);
  return util::misused("{}: {} of its {} studies were left out", file, refused.size(),
                       traces.studies.size());
}

util::Result<void> remove(const Settings& settings, store::Store& store) {
  PACELINE_TRY_ASSIGN(const auto row, store.find(settings.words[0]));
  if (row.state == "running")
    return util::misused("{} is being made: stop the program that makes it first", row.id);
  PACELINE_TRY(store.remove({row}));
  util::say("Removed " + row.id);
  return {};
}

util::Result<void> prune(const Settings& settings, store::Store& store) {
  std::optional<std::int64_t> keep_bytes;
  if (settings.keep_bytes) {
    PACELINE_TRY_ASSIGN(const auto size, parse_size(*settings.keep_bytes));
    keep_bytes = static_cast<std::int64_t>(size);
  }
  std::optional<std::string> before;
  if (settings.older_days) before = util::utc_ago(*settings.older_days * 86400);
  if (!keep_bytes && !before)
    return util::fail(util::ErrorKind::usage,
                      "prune takes away what is too much: give --keep-bytes SIZE or --older DAYS");
  PACELINE_TRY_ASSIGN(const auto rows, store.list({}));
  const auto gone = store::to_prune(rows, keep_bytes, before);
  if (!settings.dry_run) PACELINE_TRY(store.remove(gone));
  for (const auto& row : gone)
    util::say(fmt::format("{} {}", settings.dry_run ? "Would remove" : "Removed", row.id));
  util::say(fmt::format("{} of {} studies; those with a tag and those that run are kept.",
                        gone.size(), rows.size()));
  return {};
}

util::Result<void> tag(const Settings& settings, store::Store& store) {
  PACELINE_TRY_ASSIGN(const auto row, store.find(settings.words[0]));
  const std::string& name = settings.words[1];
  if (name.empty() || name != util::printable(name))
    return util::fail(util::ErrorKind::usage, "a tag is one line of printable characters");
  if (!settings.removes) return store.tag(row, name);
  PACELINE_TRY_ASSIGN(const bool had, store.untag(row, name));
  if (had) return {};
  return util::fail(util::ErrorKind::usage, fmt::format("{} has no tag {}", row.id, name));
}

util::Result<void> diff(const Settings& settings, store::Store& store) {
  PACELINE_TRY_ASSIGN(const auto one_row, store.find(settings.words[0]));
  PACELINE_TRY_ASSIGN(const auto other_row, store.find(settings.words[1]));
  PACELINE_TRY_ASSIGN(const auto one, shown(one_row, store));
  PACELINE_TRY_ASSIGN(const auto other, shown(other_row, store));
  const auto difference =
      document::to_difference(one.trace, one.document, other.trace, other.document);
  return write_out(report::difference(difference, style_for(stdout)), "", std::nullopt);
}

/// What can be done with the store: the words and options that it takes.
struct Task {
  const char* name;
  std::size_t least_words;
  std::size_t most_words;
  const char* takes;  ///< for an error
  std::vector<std::string> options;
  util::Result<store::Store> (*open)(const std::filesystem::path& file);
  util::Result<void> (*run)(const Settings&, store::Store&);
};

const std::vector<Task>& actions() {
  const auto to_read = store::Store::open_to_read;
  const auto to_write = store::Store::open;
  static const std::vector<Task> table = {
      {"list",
       0,
       0,
       "",
       {"--model", "--kind", "--since", "--tag", "--limit", "--json"},
       to_read,
       list},
      {"show",
       1,
       1,
       "STUDY",
       {"--json", "--requests", "--arm", "--class", "--outcome"},
       to_read,
       show},
      {"export", 0, 2, "STUDY [FILE], or --all [FILE]", {"--all"}, to_read, export_studies},
      {"import", 1, 1, "FILE", {}, to_write, import_file},
      {"remove", 1, 1, "STUDY", {}, to_write, remove},
      {"prune", 0, 0, "", {"--keep-bytes", "--older", "--dry-run"}, to_write, prune},
      {"tag", 2, 2, "STUDY TAG", {"--remove"}, to_write, tag},
      {"diff", 2, 2, "STUDY STUDY", {}, to_read, diff},
  };
  return table;
}

util::Result<void> check_words(const Settings& settings, const Task& action,
                               const std::vector<std::string>& given) {
  if (settings.words.size() < action.least_words || settings.words.size() > action.most_words)
    return util::fail(util::ErrorKind::usage,
                      action.most_words == 0
                          ? fmt::format("paceline history {} takes options alone", action.name)
                          : fmt::format("paceline history {} takes {}", action.name, action.takes));
  for (const auto& option : given)
    if (std::find(action.options.begin(), action.options.end(), option) == action.options.end())
      return util::fail(util::ErrorKind::usage,
                        fmt::format("{} is not for paceline history {}", option, action.name));
  return {};
}

util::Result<int> history(const Settings& settings, const std::vector<std::string>& given) {
  const auto action = std::find_if(actions().begin(), actions().end(),
                                   [&](const Task& one) { return one.name == settings.action; });
  PACELINE_TRY(check_words(settings, *action, given));
  PACELINE_TRY_ASSIGN(auto store, action->open(store_file(settings.db)));
  PACELINE_TRY(action->run(settings, store));
  return 0;
}

void add_which_studies(CLI::App& command, Settings& settings) {
  const char* const group = "Which studies, of list";
  command
      .add_option("--model", settings.studies.model, "Part of a model's name or server's address")
      ->type_name("NAME")
      ->default_str("all")
      ->group(group);
  command
      .add_option("--kind", settings.studies.kind,
                  "Command that made them: run, fill, compare, sweep, ..")
      ->type_name("COMMAND")
      ->default_str("all")
      ->group(group);
  command
      .add_option("--since", settings.studies.since, "Made then or later, as 2026-11 or 2026-11-29")
      ->type_name("DATE")
      ->default_str("all")
      ->group(group);
  command.add_option("--tag", settings.studies.tag, "With this tag")
      ->type_name("TAG")
      ->default_str("all")
      ->group(group);
  settings.studies.limit = 50;
  command.add_option("--limit", settings.studies.limit, "The newest so many")
      ->check(CLI::Range(1, 1 << 30))
      ->type_name("NUMBER")
      ->capture_default_str()
      ->group(group);
}

void add_which_requests(CLI::App& command, Settings& settings) {
  const char* const group = "Requests of a study, of show";
  command
      .add_flag("--requests", settings.shows_requests,
                "Its measured requests in place of its report, a line each")
      ->group(group);
  command.add_option("--arm", settings.requests.arm, "Of this arm")
      ->type_name("NAME")
      ->default_str("all")
      ->group(group);
  command.add_option("--class", settings.requests.workload_class, "Of this class, as json@4096")
      ->type_name("CLASS")
      ->default_str("all")
      ->group(group);
  command
      .add_option("--outcome", settings.requests.outcome, "That ended so: done, failed, crashed")
      ->type_name("OUTCOME")
      ->default_str("all")
      ->group(group);
}

void add_retention(CLI::App& command, Settings& settings) {
  const char* const group = "What goes, of prune";
  command
      .add_option("--keep-bytes", settings.keep_bytes,
                  "The oldest, until the records of the rest take no more than this")
      ->type_name("SIZE")
      ->default_str("none")
      ->group(group);
  command.add_option("--older", settings.older_days, "Those made longer ago")
      ->check(CLI::Range(0.0, 1e5))
      ->type_name("DAYS")
      ->default_str("none")
      ->group(group);
  command.add_flag("--dry-run", settings.dry_run, "Say what would go, and end")->group(group);
}

/// Names of the options that were given, --db left out, which is for all.
std::vector<std::string> given_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && !option->get_positional() && option->get_name() != "--db")
      names.push_back(option->get_name());
  return names;
}

}  // namespace

void add_history(CLI::App& app, Action& action) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("history", about_history);
  std::vector<std::string> names;
  for (const auto& one : actions()) names.emplace_back(one.name);
  command->add_option("action", settings->action, "What to do")
      ->check(CLI::IsMember(names))
      ->type_name("ACTION")
      ->required();
  command->add_option("words", settings->words, "Studies, then a file or a tag")
      ->type_name("STUDY|FILE|TAG")
      ->default_str("none");
  command->add_option("--json", settings->json, "Write the document of list or show there")
      ->type_name("FILE")
      ->default_str("none");
  command->add_flag("--all", settings->all, "Every study, of export");
  command->add_flag("--remove", settings->removes, "Take the tag away, of tag");
  add_which_studies(*command, *settings);
  add_which_requests(*command, *settings);
  add_retention(*command, *settings);
  add_db_option(*command, settings->db);
  command->footer(examples);
  command->callback([command, settings, &action] {
    const auto given = given_options(*command);
    action = [settings, given] { return history(*settings, given); };
  });
}

}  // namespace paceline::cli
