#include "store/store.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "store/compression.hpp"
#include "store/owner.hpp"
#include "store/schema.hpp"

namespace paceline::store {

namespace {

constexpr const char* study_columns =
    "SELECT key, id, created, kind, tool_version, workload, models, state, owner, launches, "
    "requests, failed, superseded, resumed, bytes, "
    "(SELECT group_concat(name, char(10)) FROM tag WHERE study = key), "
    "(SELECT count(*) FROM launch WHERE launch.study = study.key AND launch.superseded = 0 "
    "AND launch.outcome = 'done') FROM study";

/// Conditions of a query, joined by AND.
class Where {
 public:
  template <class Value>
  void add(const std::optional<Value>& value, const char* condition) {
    if (value) text_ += std::string(text_.empty() ? " WHERE " : " AND ") + condition;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void bind_present(Statement& statement, const std::optional<std::string>& value) {
  if (value) statement.bind(std::string_view(*value));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// A study whose program is gone without a last word was cut off.
std::string state_of(const std::string& state, const std::optional<std::string>& owner) {
  return state == "running" && !is_running(owner.value_or("")) ? "cut off" : state;
}

StudyRow study_of(const Statement& row) {
  StudyRow study;
  study.key = row.integer(0);
  study.id = row.text(1);
  study.created = row.text(2);
  study.kind = row.optional_text(3);
  study.tool_version = row.text(4);
  study.workload = row.text(5);
  study.models = row.text(6);
  study.state = state_of(row.text(7), row.optional_text(8));
  study.launches = static_cast<int>(row.integer(9));
  study.requests = static_cast<int>(row.integer(10));
  study.failed = static_cast<int>(row.integer(11));
  study.superseded = static_cast<int>(row.integer(12));
  study.resumed = static_cast<int>(row.integer(13));
  study.bytes = row.integer(14);
  study.tags = lines_of(row.text(15));
  study.launches_done = static_cast<int>(row.integer(16));
  return study;
}

RequestRow request_of(const Statement& row) {
  RequestRow request;
  request.launch = static_cast<int>(row.integer(0));
  request.superseded = row.integer(1) != 0;
  request.arm = row.text(2);
  request.round = static_cast<int>(row.integer(3));
  request.prompt_id = row.text(4);
  request.workload_class = row.text(5);
  request.outcome = row.text(6);
  request.in_load = row.integer(7) != 0;
  request.output_tokens = row.optional_integer(8);
  request.decode_s = row.real(9);
  return request;
}

tl::unexpected<util::Error> not_one(const std::string& part, const std::vector<StudyRow>& found) {
  if (found.empty())
    return util::fail(util::ErrorKind::usage,
                      fmt::format("no study is called {}: paceline history list shows those there "
                                  "are",
                                  part));
  return util::fail(util::ErrorKind::usage,
                    fmt::format("{} is in the names of several studies, as {} and {}: give more of "
                                "it",
                                part, found[0].id, found[1].id));
}

}  // namespace

std::string list_sql(const StudyFilter& filter) {
  Where where;
  where.add(filter.model, "instr(lower(models), lower(?)) > 0");
  where.add(filter.kind, "kind = ?");
  where.add(filter.since, "created >= ?");
  where.add(filter.tag, "key IN (SELECT study FROM tag WHERE name = ?)");
  return study_columns + where.text() + " ORDER BY created DESC, key DESC LIMIT ?";
}

std::string requests_sql(const RequestFilter& filter) {
  Where where;
  where.add(std::optional(true), "r.study = ?");
  where.add(filter.arm, "l.arm = ?");
  where.add(filter.workload_class, "r.class = ?");
  where.add(filter.outcome, "r.outcome = ?");
  return "SELECT l.number, l.superseded, l.arm, l.round, r.prompt_id, r.class, r.outcome, "
         "r.in_load, r.output_tokens, r.decode_s FROM request r JOIN launch l ON l.key = r.launch" +
         where.text() + " AND r.warm_up = 0 ORDER BY r.key";
}

util::Result<Store> Store::open(const std::filesystem::path& file) {
  PACELINE_TRY_ASSIGN(auto database, open_database(file));
  return Store(std::move(database));
}

util::Result<Store> Store::open_to_read(const std::filesystem::path& file) {
  PACELINE_TRY_ASSIGN(auto database, store::open_to_read(file));
  return Store(std::move(database));
}

util::Result<std::vector<StudyRow>> Store::rows(Statement statement) {
  std::vector<StudyRow> studies;
  while (true) {
    PACELINE_TRY_ASSIGN(const bool there, statement.step());
    if (!there) return studies;
    studies.push_back(study_of(statement));
  }
}

util::Result<std::vector<StudyRow>> Store::list(const StudyFilter& filter) {
  PACELINE_TRY_ASSIGN(auto statement, database_.prepare(list_sql(filter)));
  for (const auto& value : {filter.model, filter.kind, filter.since, filter.tag})
    bind_present(statement, value);
  statement.bind(filter.limit);
  return rows(std::move(statement));
}

util::Result<StudyRow> Store::find(const std::string& part) {
  if (part.empty())
    return util::fail(util::ErrorKind::usage,
                      "the name of a study is empty: give its id, a part of it, or last");
  std::vector<StudyRow> found;
  if (part == "last") {
    StudyFilter newest;
    newest.limit = 1;
    PACELINE_TRY_ASSIGN(found, list(newest));
  } else {
    PACELINE_TRY_ASSIGN(auto statement,
                        database_.prepare(std::string(study_columns) +
                                          " WHERE instr(id, ?1) > 0 AND NOT EXISTS (SELECT 1 FROM "
                                          "study AS whole WHERE instr(whole.id, ?1) > 0 AND "
                                          "instr(study.id, whole.id || '-') = 1) "
                                          "ORDER BY id <> ?1 LIMIT 2"));
    statement.bind(std::string_view(part));
    PACELINE_TRY_ASSIGN(found, rows(std::move(statement)));
  }
  if (found.size() == 1 || (!found.empty() && found[0].id == part)) return found[0];
  return not_one(part, found);
}

util::Result<std::optional<StudyRow>> Store::with_id(const std::string& id) {
  PACELINE_TRY_ASSIGN(auto statement,
                      database_.prepare(std::string(study_columns) + " WHERE id = ?"));
  statement.bind(std::string_view(id));
  PACELINE_TRY_ASSIGN(const auto found, rows(std::move(statement)));
  return found.empty() ? std::nullopt : std::optional(found.front());
}

util::Result<std::vector<LaunchRow>> Store::launches(const StudyRow& study) {
  PACELINE_TRY_ASSIGN(
      auto statement,
      database_.prepare("SELECT number, round, arm, outcome, superseded, (SELECT count(*) FROM "
                        "request WHERE launch = launch.key AND warm_up = 0) FROM launch "
                        "WHERE study = ? ORDER BY key"));
  statement.bind(study.key);
  std::vector<LaunchRow> launches;
  while (true) {
    PACELINE_TRY_ASSIGN(const bool there, statement.step());
    if (!there) return launches;
    launches.push_back({static_cast<int>(statement.integer(0)),
                        static_cast<int>(statement.integer(1)), statement.text(2),
                        statement.optional_text(3), statement.integer(4) != 0,
                        static_cast<int>(statement.integer(5))});
  }
}

util::Result<std::vector<RequestRow>> Store::requests(const StudyRow& study,
                                                      const RequestFilter& filter) {
  PACELINE_TRY_ASSIGN(auto statement, database_.prepare(requests_sql(filter)));
  statement.bind(study.key);
  for (const auto& value : {filter.arm, filter.workload_class, filter.outcome})
    bind_present(statement, value);
  std::vector<RequestRow> requests;
  while (true) {
    PACELINE_TRY_ASSIGN(const bool there, statement.step());
    if (!there) return requests;
    requests.push_back(request_of(statement));
  }
}

util::Result<void> Store::each_line(
    const StudyRow& study, const std::function<util::Result<void>(std::string_view)>& take) {
  PACELINE_TRY_ASSIGN(auto statement,
                      database_.prepare("SELECT line FROM record WHERE study = ? ORDER BY key"));
  statement.bind(study.key);
  while (true) {
    PACELINE_TRY_ASSIGN(const bool there, statement.step());
    if (!there) return {};
    PACELINE_TRY_ASSIGN(const std::string line, decompress(statement.blob(0)));
    PACELINE_TRY(take(line));
  }
}

util::Result<std::string> Store::lines(const StudyRow& study) {
  std::string text;
  PACELINE_TRY(each_line(study, [&text](std::string_view line) -> util::Result<void> {
    text.append(line).push_back('\n');
    return {};
  }));
  return text;
}

util::Result<trace::TraceBuilder> Store::build(const StudyRow& study) {
  trace::TraceBuilder builder;
  const std::string where = "the study " + study.id;
  PACELINE_TRY(each_line(study, [&](std::string_view line) -> util::Result<void> {
    PACELINE_TRY_ASSIGN(auto record, trace::read_record(line, where));
    return builder.take(std::move(record));
  }));
  return builder;
}

util::Result<void> Store::tag(const StudyRow& study, const std::string& name) {
  return database_.run("INSERT OR IGNORE INTO tag (study, name) VALUES (?, ?)", study.key,
                       std::string_view(name));
}

util::Result<bool> Store::untag(const StudyRow& study, const std::string& name) {
  PACELINE_TRY(database_.run("DELETE FROM tag WHERE study = ? AND name = ?", study.key,
                             std::string_view(name)));
  return database_.changed() > 0;
}

util::Result<void> Store::remove(const std::vector<StudyRow>& studies) {
  for (const auto& study : studies)
    PACELINE_TRY(database_.run("DELETE FROM study WHERE key = ?", study.key));
  return database_.run("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
}

std::vector<StudyRow> to_prune(const std::vector<StudyRow>& studies,
                               std::optional<std::int64_t> keep_bytes,
                               const std::optional<std::string>& before) {
  std::int64_t left = 0;
  for (const auto& study : studies) left += study.bytes;
  std::vector<StudyRow> gone;
  for (auto study = studies.rbegin(); study != studies.rend(); ++study) {
    const bool too_much = keep_bytes && left > *keep_bytes;
    const bool too_old = before && study->created < *before;
    if ((!too_much && !too_old) || !study->tags.empty() || study->state == "running") continue;
    left -= study->bytes;
    gone.push_back(*study);
  }
  return gone;
}

}  // namespace paceline::store
