#include "store/import.hpp"

#include <fmt/format.h>

#include <variant>

#include "store/study_journal.hpp"
#include "util/misused.hpp"

namespace paceline::store {

namespace {

/// The next line without its newline, taken off the text.
std::string_view take_line(std::string_view& text) {
  const auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() + 1);
  return line;
}

/// The lines of the study that the store has already; those of the text must go on behind them.
util::Result<std::string> lines_there(Store& store, const StudyRow& row, const TraceText& study) {
  const auto refused = [](const std::string& why) {
    return util::fail(util::ErrorKind::usage, why);
  };
  if (row.state == "running") return refused("the study is being made by another program");
  PACELINE_TRY_ASSIGN(auto lines, store.lines(row));
  if (study.lines == lines) return refused("the study is in the store already");
  if (lines.substr(0, study.lines.size()) == study.lines)
    return refused("the study is in the store already, and longer");
  if (study.lines.substr(0, lines.size()) != lines)
    return refused(
        fmt::format("the store has another study of that name: paceline history remove {} takes "
                    "it away",
                    row.id));
  return lines;
}

util::Result<void> take_lines(Database& database, const TraceText& study, StudyJournal journal,
                              std::size_t known) {
  trace::TraceBuilder builder;
  std::string_view text = study.lines;
  for (int number = study.first_line; !text.empty(); ++number) {
    const bool is_there = study.lines.size() - text.size() < known;
    const std::string_view line = take_line(text);
    const std::string where = fmt::format("trace line {}", number);
    PACELINE_TRY_ASSIGN(auto record, trace::read_record(line, where));
    if (const auto* header = std::get_if<trace::Header>(&record.content);
        header != nullptr && header->trace_id != study.id)
      return util::misused("{}: the header's id is not written as plain text", where);
    // The builder says where a record cannot stand, so it comes first.
    auto taken = builder.take(record);
    if (taken && !is_there) taken = journal.take(record, line);
    if (!taken)
      return util::fail(taken.error().kind, fmt::format("{}: {}", where, taken.error().message));
  }
  // This process does not make it, so without an end it was cut off.
  return database.run("UPDATE study SET owner = NULL WHERE id = ?", std::string_view(study.id));
}

}  // namespace

TraceTexts split_traces(std::string_view text) {
  TraceTexts texts;
  for (int number = 1; !text.empty(); ++number) {
    const char* const begin = text.data();
    if (text.find('\n') == std::string_view::npos) {
      texts.cut_line = number;
      break;
    }
    const auto id = trace::header_id(take_line(text));
    if (texts.studies.empty() || (id && *id != texts.studies.back().id))
      texts.studies.push_back({number, id.value_or(""), {begin, 0}});
    auto& lines = texts.studies.back().lines;
    lines = {lines.data(), static_cast<std::size_t>(text.data() - lines.data())};
  }
  return texts;
}

util::Result<bool> import_study(Store& store, const TraceText& study) {
  Database& database = store.database();
  PACELINE_TRY_ASSIGN(auto transaction, Transaction::begin(database));
  PACELINE_TRY_ASSIGN(const auto row, store.with_id(study.id));
  StudyJournal journal(database);
  std::size_t known = 0;
  if (row) {
    const auto lines = lines_there(store, *row, study);
    if (!lines)
      return util::fail(lines.error().kind,
                        fmt::format("trace line {}: {}", study.first_line, lines.error().message));
    journal = StudyJournal(database, row->key);
    known = lines->size();
  }
  PACELINE_TRY(take_lines(database, study, journal, known));
  PACELINE_TRY(transaction.commit());
  return row.has_value();
}

}  // namespace paceline::store
