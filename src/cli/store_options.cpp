#include "cli/store_options.hpp"

#include <CLI/CLI.hpp>
#include <system_error>

#include "util/files.hpp"
#include "util/misused.hpp"

namespace paceline::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* group = "Store";

/// Takes "NAME VALUE" or "NAME=VALUE" out of a command line; its value where it was there.
std::optional<std::string> take_option(std::vector<std::string>& words, const std::string& name) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (word->rfind(name + "=", 0) == 0) {
      const std::string value = word->substr(name.size() + 1);
      words.erase(word);
      return value;
    }
    if (*word == name && word + 1 != words.end()) {
      const std::string value = *(word + 1);
      words.erase(word, word + 2);
      return value;
    }
  }
  return std::nullopt;
}

bool take_flag(std::vector<std::string>& words, const std::string& name) {
  const auto found = std::find(words.begin(), words.end(), name);
  if (found == words.end()) return false;
  words.erase(found);
  return true;
}

/// How a study was made, which stands at the beginning of its records.
util::Result<trace::About> about(store::Store& store, const store::StudyRow& study) {
  PACELINE_TRY_ASSIGN(const auto builder, store.build(study));
  if (builder.trace().about && !builder.trace().about->command.empty())
    return *builder.trace().about;
  return util::misused("the study {} does not say how it was made, so nothing can go on with it",
                       study.id);
}

/// The study that one named ID-WORD is part of, which knows how both were asked for; else itself.
util::Result<store::StudyRow> whole_of(store::Store& store, const store::StudyRow& study) {
  PACELINE_TRY_ASSIGN(auto whole, store.with_id(study.id.substr(0, study.id.rfind('-'))));
  return whole.value_or(study);
}

}  // namespace

void add_db_option(CLI::App& command, std::optional<std::string>& db) {
  command.add_option("--db", db, "The store of studies")
      ->type_name("FILE")
      ->default_str("paceline.db in the data folder")
      ->group(group);
}

void add_store_options(CLI::App& command, Output& output) {
  add_db_option(command, output.db);
  command
      .add_option("--resume", output.resume,
                  "Go on with a study that was cut off, by its id or last: its command line is "
                  "known, its finished launches are kept, and nothing else need be given")
      ->type_name("STUDY")
      ->default_str("none")
      ->group(group);
  command
      .add_flag("--resume-anyway", output.resume_anyway,
                "Go on though a model, program, workload or the machine changed; the report says "
                "what did")
      ->group(group);
}

fs::path store_file(const std::optional<std::string>& db) {
  return db ? fs::path(*db) : util::data_folder() / "paceline.db";
}

std::string db_words(const std::optional<std::string>& db) { return db ? " --db " + *db : ""; }

util::Result<std::vector<std::string>> with_stored_command(std::vector<std::string> words) {
  std::vector<std::string> rest = words;
  const auto id = take_option(rest, "--resume");
  if (!id || rest.empty()) return words;
  const std::string command = rest.front();
  rest.erase(rest.begin());
  const auto db = take_option(rest, "--db");
  const bool anyway = take_flag(rest, "--resume-anyway");
  const bool dry_run = take_flag(rest, "--dry-run");
  if (!rest.empty() && (rest.front() == "--help" || rest.front() == "-h")) return words;
  if (!rest.empty())
    return util::misused("--resume goes on with a study as it was begun: leave {} out",
                         rest.front());
  PACELINE_TRY_ASSIGN(auto store, store::Store::open(store_file(db)));
  const fs::path file = fs::absolute(store_file(db));
  PACELINE_TRY_ASSIGN(const auto named, store.find(*id));
  PACELINE_TRY_ASSIGN(const auto study, whole_of(store, named));
  PACELINE_TRY_ASSIGN(const auto made, about(store, study));
  if (made.command.front() != command)
    return util::misused("the study {} was made by paceline {}: paceline {} --resume {}", study.id,
                         made.command.front(), made.command.front(), study.id);
  std::error_code problem;
  fs::current_path(made.folder, problem);
  if (problem)
    return util::misused("the study {} was made in the folder {}, which cannot be entered: {}",
                         study.id, made.folder, problem.message());
  std::vector<std::string> whole = made.command;
  take_option(whole, "--db");
  whole.insert(whole.end(), {"--db", file.string(), "--resume", study.id});
  if (anyway) whole.emplace_back("--resume-anyway");
  if (dry_run) whole.emplace_back("--dry-run");
  return whole;
}

}  // namespace paceline::cli
