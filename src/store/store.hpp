#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.hpp"
#include "store/rows.hpp"
#include "trace/record.hpp"

namespace paceline::store {

/// Every study that was made, in one SQLite file: each record of its trace, compressed, in order,
/// and tables to find them by. Several programs may use it at once.
class Store {
 public:
  /// Makes the file and its folder when there is none.
  static util::Result<Store> open(const std::filesystem::path& file);

  /// To look only: a store that cannot be written will do.
  static util::Result<Store> open_to_read(const std::filesystem::path& file);

  /// The newest first.
  util::Result<std::vector<StudyRow>> list(const StudyFilter& filter);

  /// The study whose id is `part`, or the only one whose id has it in it; "last" is the newest.
  /// "ID-WORD" is part of the study ID, and not meant by what ID has in it.
  util::Result<StudyRow> find(const std::string& part);

  /// The study of exactly that id, if there is one.
  util::Result<std::optional<StudyRow>> with_id(const std::string& id);

  util::Result<std::vector<LaunchRow>> launches(const StudyRow& study);
  util::Result<std::vector<RequestRow>> requests(const StudyRow& study,
                                                 const RequestFilter& filter);

  /// Each line of the study's trace, without its newline.
  util::Result<void> each_line(const StudyRow& study,
                               const std::function<util::Result<void>(std::string_view)>& take);

  /// The study's whole trace as JSON lines: what import_study takes.
  util::Result<std::string> lines(const StudyRow& study);

  /// The records of the study, put together.
  util::Result<trace::TraceBuilder> build(const StudyRow& study);

  util::Result<void> tag(const StudyRow& study, const std::string& name);
  /// False when it had no such tag.
  util::Result<bool> untag(const StudyRow& study, const std::string& name);

  /// Removes those studies and gives their room back to the disk.
  util::Result<void> remove(const std::vector<StudyRow>& studies);

  Database& database() { return database_; }

 private:
  explicit Store(Database database) : database_(std::move(database)) {}
  util::Result<std::vector<StudyRow>> rows(Statement statement);

  Database database_;
};

/// The SQL of Store::list and Store::requests, whose values are bound in the order of the filter's
/// fields.
std::string list_sql(const StudyFilter& filter);
std::string requests_sql(const RequestFilter& filter);

/// Which of `studies`, the newest first, retention takes away: the oldest of those without a tag,
/// until the rest takes at most `keep_bytes`, and those made before `before`. Studies that run are
/// left.
std::vector<StudyRow> to_prune(const std::vector<StudyRow>& studies,
                               std::optional<std::int64_t> keep_bytes,
                               const std::optional<std::string>& before);

}  // namespace paceline::store
