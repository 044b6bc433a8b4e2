#include "store/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>

namespace paceline::store {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t application = 0x50636c6e;  // "Pcln", in every store's header

/// What brings a store from one version to the next; its place is the version that it starts from.
constexpr std::array migrations = {
    R"(
CREATE TABLE study (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  created TEXT NOT NULL,
  kind TEXT,
  tool_version TEXT NOT NULL,
  workload TEXT NOT NULL,
  models TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'interrupted', 'done')),
  owner TEXT,
  launches INTEGER NOT NULL DEFAULT 0,
  requests INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  superseded INTEGER NOT NULL DEFAULT 0,
  resumed INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX study_by_time ON study (created);
CREATE TABLE tag (
  study INTEGER NOT NULL REFERENCES study ON DELETE CASCADE,
  name TEXT NOT NULL,
  PRIMARY KEY (study, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE record (
  key INTEGER PRIMARY KEY,
  study INTEGER NOT NULL REFERENCES study ON DELETE CASCADE,
  line BLOB NOT NULL
) STRICT;
CREATE INDEX record_of_study ON record (study);
CREATE TABLE launch (
  key INTEGER PRIMARY KEY,
  study INTEGER NOT NULL REFERENCES study ON DELETE CASCADE,
  number INTEGER NOT NULL,
  round INTEGER NOT NULL,
  arm TEXT NOT NULL,
  outcome TEXT,
  superseded INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX launch_of_study ON launch (study, number);
CREATE TABLE request (
  key INTEGER PRIMARY KEY,
  study INTEGER NOT NULL REFERENCES study ON DELETE CASCADE,
  launch INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE,
  prompt_id TEXT NOT NULL,
  class TEXT NOT NULL,
  outcome TEXT NOT NULL,
  warm_up INTEGER NOT NULL,
  in_load INTEGER NOT NULL,
  output_tokens INTEGER,
  decode_s REAL
) STRICT;
CREATE INDEX request_of_study ON request (study, class, outcome);
CREATE INDEX request_of_launch ON request (launch);
)",
};
constexpr auto version = static_cast<std::int64_t>(migrations.size());

std::string later(std::int64_t found) {
  return fmt::format("it is of a later version of Paceline (tables {}, this one knows {})", found,
                     version);
}

tl::unexpected<util::Error> refused(const fs::path& file, const std::string& why) {
  return util::fail(util::ErrorKind::usage,
                    fmt::format("the store {}: {}; it was left as it is: move it away, or name "
                                "another one with --db FILE",
                                file.string(), why));
}

/// The first bytes of an SQLite file, by https://sqlite.org/fileformat.html.
class FileHead {
 public:
  explicit FileHead(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    stream.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    whole_ = stream.gcount() == static_cast<std::streamsize>(bytes_.size());
  }
  bool is_sqlite() const {
    return whole_ &&
           std::string_view(bytes_.data(), 16) == std::string_view("SQLite format 3\0", 16);
  }
  std::uint64_t size() const {
    const std::uint32_t page = number(16) >> 16U;
    return std::uint64_t{page == 1 ? 65536 : page} * number(28);
  }
  std::uint32_t application_id() const { return number(68); }
  std::int64_t user_version() const { return number(60); }

 private:
  std::uint32_t number(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8U | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  std::array<char, 100> bytes_{};
  bool whole_ = false;
};

std::uintmax_t size_of(const fs::path& file) {
  std::error_code absent;
  const auto size = fs::file_size(file, absent);
  return absent ? 0 : size;
}

fs::path wal_of(const fs::path& file) { return file.string() + "-wal"; }

/// What can be seen without SQLite, which would mend a file or give it another form by opening it.
util::Result<void> look_at(const fs::path& file) {
  const auto size = size_of(file);
  std::error_code unknown;
  if (fs::exists(file, unknown) && !fs::is_regular_file(file, unknown))
    return refused(file, "it is no file");
  if (size == 0) return {};
  const FileHead head(file);
  if (!head.is_sqlite()) return refused(file, "it is no store of Paceline's");
  if (head.application_id() != application)
    return refused(file, "it is a database of another program");
  if (head.user_version() > version) return refused(file, later(head.user_version()));
  if (size < head.size() && size_of(wal_of(file)) == 0)
    return refused(file,
                   fmt::format("it is damaged, {} bytes long where it says {}", size, head.size()));
  return {};
}

/// Of a file that is shorter than it says: the rest may wait in the -wal file.
util::Result<void> check_whole(Database& database) {
  PACELINE_TRY_ASSIGN(auto statement, database.prepare("PRAGMA quick_check(1)"));
  PACELINE_TRY_ASSIGN(const bool row, statement.step());
  if (row && statement.text(0) == "ok") return {};
  return refused(database.file(), "it is damaged");
}

util::Result<void> migrate(Database& database) {
  PACELINE_TRY_ASSIGN(auto transaction, Transaction::begin(database));
  PACELINE_TRY_ASSIGN(const auto from, database.number("PRAGMA user_version"));
  for (auto step = from; step < version; ++step)
    PACELINE_TRY(database.run(migrations[static_cast<std::size_t>(step)]));
  PACELINE_TRY(database.run(fmt::format("PRAGMA application_id = {}", application).c_str()));
  PACELINE_TRY(database.run(fmt::format("PRAGMA user_version = {}", version).c_str()));
  return transaction.commit();
}

}  // namespace

util::Result<Database> open_database(const fs::path& file) {
  std::error_code problem;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), problem);
  if (problem)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("the store {}: its folder cannot be made ({}); name another one "
                                  "with --db FILE",
                                  file.string(), problem.message()));
  PACELINE_TRY(look_at(file));
  const bool is_short = size_of(file) > 0 && size_of(file) < FileHead(file).size();
  PACELINE_TRY_ASSIGN(auto database, Database::open(file));
  database.tidy_up_at_close(false);
  if (is_short) PACELINE_TRY(check_whole(database));
  PACELINE_TRY_ASSIGN(const auto found, database.number("PRAGMA user_version"));
  if (found < 0 || found > version) return refused(file, later(found));
  if (found == 0) PACELINE_TRY(database.run("PRAGMA auto_vacuum = INCREMENTAL"));
  if (found < version) PACELINE_TRY(migrate(database));
  PACELINE_TRY(database.run("PRAGMA foreign_keys = ON"));
  PACELINE_TRY(database.number("SELECT count(*) FROM sqlite_schema"));
  PACELINE_TRY(database.run("PRAGMA journal_mode = WAL"));
  PACELINE_TRY(database.run("PRAGMA synchronous = NORMAL"));
  database.tidy_up_at_close(true);
  return database;
}

}  // namespace paceline::store
