#pragma once

#include <cstdint>
#include <string_view>

#include "store/database.hpp"
#include "trace/journal.hpp"

namespace paceline::store {

/// Takes down a study in the store: each record is safe from a kill of this program once it was
/// taken.
class StudyJournal final : public trace::Journal {
 public:
  /// A study to come, which begins with its header.
  explicit StudyJournal(Database& database) : database_(&database) {}

  /// One that is there and goes on.
  StudyJournal(Database& database, std::int64_t study) : database_(&database), study_(study) {}

  util::Result<void> take(const trace::Record& record) override;

  /// A record and the line that it was read from.
  util::Result<void> take(const trace::Record& record, std::string_view line);

 private:
  util::Result<void> add(const trace::Header& header);
  util::Result<void> add(const trace::About& about);
  util::Result<void> add(const trace::Launch& launch);
  util::Result<void> add(const trace::Resumption& resumption);
  util::Result<void> add(const trace::End& end);
  util::Result<void> add(int launch, const trace::Request& request, bool in_load);
  util::Result<void> add_part(const trace::Record& record);
  util::Result<void> check_free();
  util::Result<std::int64_t> launch_key(int launch);

  Database* database_;
  std::int64_t study_ = 0;
};

}  // namespace paceline::store
