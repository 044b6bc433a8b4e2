#include "store/study_journal.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "metrics/counts.hpp"
#include "store/compression.hpp"
#include "store/owner.hpp"
#include "trace/names.hpp"

namespace paceline::store {

namespace {

/// Names of the model files without their folders, or the addresses of running servers, each once.
std::string models_of(const trace::Header& header) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  for (const auto& arm : header.arms) {
    add(std::filesystem::path(arm.setup.model_path).filename().string());
    add(std::filesystem::path(arm.setup.draft_path.value_or("")).filename().string());
    add(arm.setup.url);
  }
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

util::Result<void> StudyJournal::take(const trace::Record& record) {
  return take(record, trace::line_of(record));
}

util::Result<void> StudyJournal::take(const trace::Record& record, std::string_view line) {
  PACELINE_TRY_ASSIGN(const std::string frame, compress(line));
  PACELINE_TRY_ASSIGN(auto transaction, Transaction::begin(*database_));
  if (const auto* header = std::get_if<trace::Header>(&record.content)) PACELINE_TRY(add(*header));
  PACELINE_TRY_ASSIGN(auto statement,
                      database_->prepare("INSERT INTO record (study, line) VALUES (?, ?)"));
  PACELINE_TRY(statement.bind(study_).bind_blob(frame).run());
  PACELINE_TRY(database_->run("UPDATE study SET bytes = bytes + ? WHERE key = ?",
                              static_cast<std::int64_t>(frame.size()), study_));
  PACELINE_TRY(add_part(record));
  return transaction.commit();
}

util::Result<void> StudyJournal::add_part(const trace::Record& record) {
  if (const auto* about = std::get_if<trace::About>(&record.content)) return add(*about);
  if (const auto* launch = std::get_if<trace::Launch>(&record.content)) return add(*launch);
  if (const auto* request = std::get_if<trace::Request>(&record.content))
    return add(record.launch, *request, false);
  if (const auto* cell = std::get_if<trace::LoadCell>(&record.content))
    for (const auto& request : cell->requests) PACELINE_TRY(add(record.launch, request, true));
  if (const auto* outcome = std::get_if<trace::Outcome>(&record.content)) {
    PACELINE_TRY_ASSIGN(const auto key, launch_key(record.launch));
    return database_->run("UPDATE launch SET outcome = ? WHERE key = ?",
                          std::string_view(util::enum_name(outcome->kind)), key);
  }
  if (const auto* resumption = std::get_if<trace::Resumption>(&record.content))
    return add(*resumption);
  if (const auto* end = std::get_if<trace::End>(&record.content)) return add(*end);
  return {};
}

util::Result<void> StudyJournal::add(const trace::Header& header) {
  PACELINE_TRY(database_->run(
      "INSERT INTO study (id, created, tool_version, workload, models, state, owner) "
      "VALUES (?, ?, ?, ?, ?, 'running', ?)",
      std::string_view(header.trace_id), std::string_view(header.created),
      std::string_view(header.tool_version), std::string_view(header.workload),
      std::string_view(models_of(header)), std::string_view(this_process())));
  study_ = database_->last_key();
  return {};
}

util::Result<void> StudyJournal::add(const trace::About& about) {
  if (about.command.empty()) return {};
  return database_->run("UPDATE study SET kind = ? WHERE key = ?",
                        std::string_view(about.command.front()), study_);
}

util::Result<void> StudyJournal::add(const trace::Launch& launch) {
  PACELINE_TRY(database_->run("INSERT INTO launch (study, number, round, arm) VALUES (?, ?, ?, ?)",
                              study_, launch.index, launch.round, std::string_view(launch.arm)));
  return database_->run("UPDATE study SET launches = launches + 1 WHERE key = ?", study_);
}

util::Result<std::int64_t> StudyJournal::launch_key(int launch) {
  PACELINE_TRY_ASSIGN(
      auto statement,
      database_->prepare(
          "SELECT key FROM launch WHERE study = ? AND number = ? ORDER BY key DESC LIMIT 1"));
  PACELINE_TRY_ASSIGN(const bool there, statement.bind(study_).bind(launch).step());
  if (!there) return util::fail(util::ErrorKind::usage, "unknown launch");
  return statement.integer(0);
}

util::Result<void> StudyJournal::add(int launch, const trace::Request& request, bool in_load) {
  PACELINE_TRY_ASSIGN(const auto key, launch_key(launch));
  const auto counts = metrics::count_request(request);
  std::optional<std::int64_t> output_tokens;
  std::optional<double> decode_s;
  if (counts) {
    output_tokens = counts->output_tokens;
    decode_s = counts->decode_s;
  }
  PACELINE_TRY(database_->run(
      "INSERT INTO request (study, launch, prompt_id, class, outcome, warm_up, in_load, "
      "output_tokens, decode_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      study_, key, std::string_view(request.prompt_id), std::string_view(request.workload_class),
      std::string_view(util::enum_name(request.outcome.kind)), request.warm_up ? 1 : 0,
      in_load ? 1 : 0, output_tokens, decode_s));
  if (request.warm_up) return {};
  return database_->run(
      "UPDATE study SET requests = requests + 1, failed = failed + ? WHERE key = ?",
      request.outcome.kind == trace::OutcomeKind::done ? 0 : 1, study_);
}

util::Result<void> StudyJournal::check_free() {
  PACELINE_TRY_ASSIGN(auto statement, database_->prepare("SELECT owner FROM study WHERE key = ?"));
  PACELINE_TRY_ASSIGN(const bool there, statement.bind(study_).step());
  const std::string owner = there ? statement.text(0) : "";
  if (owner == this_process() || !is_running(owner)) return {};
  return util::fail(util::ErrorKind::usage, "the study is being made by another program");
}

// The counters are made anew from the rows, as launches that counted no longer do.
util::Result<void> StudyJournal::add(const trace::Resumption& resumption) {
  PACELINE_TRY(check_free());
  PACELINE_TRY(database_->run("UPDATE launch SET superseded = 1 WHERE study = ? AND number >= ?",
                              study_, resumption.launches_kept));
  return database_->run(
      "UPDATE study SET state = 'running', owner = ?1, resumed = resumed + 1, "
      "(launches) = (SELECT count(*) FROM launch WHERE study = ?2 AND superseded = 0), "
      "(requests, failed, superseded) = (SELECT coalesce(sum(l.superseded = 0), 0), "
      "coalesce(sum(l.superseded = 0 AND r.outcome <> 'done'), 0), "
      "coalesce(sum(l.superseded), 0) FROM request r JOIN launch l ON l.key = r.launch "
      "WHERE r.study = ?2 AND r.warm_up = 0) WHERE key = ?2",
      std::string_view(this_process()), study_);
}

util::Result<void> StudyJournal::add(const trace::End& end) {
  return database_->run("UPDATE study SET state = ?, owner = NULL WHERE key = ?",
                        std::string_view(end.interrupted ? "interrupted" : "done"), study_);
}

}  // namespace paceline::store
