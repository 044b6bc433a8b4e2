#include "store/schema.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <set>

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
CREATE INDEX tag_by_name ON tag (name);
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

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(at, 4))
    value = value << 8U | static_cast<unsigned char>(byte);
  return value;
}

std::string first_bytes(std::ifstream& stream, std::size_t count) {
  std::string bytes(count, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

/// The first bytes of an SQLite file, by https://sqlite.org/fileformat.html.
class FileHead {
 public:
  explicit FileHead(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    bytes_ = first_bytes(stream, 100);
  }
  bool is_sqlite() const {
    return bytes_.size() == 100 &&
           std::string_view(bytes_).substr(0, 16) == std::string_view("SQLite format 3\0", 16);
  }
  std::uint64_t page_bytes() const {
    const std::uint32_t page = number_at(bytes_, 16) >> 16U;
    return page == 1 ? 65536 : page;
  }
  std::uint64_t pages() const { return number_at(bytes_, 28); }
  std::uint32_t application_id() const { return number_at(bytes_, 68); }
  std::int64_t user_version() const { return number_at(bytes_, 60); }

 private:
  std::string bytes_;
};

std::uintmax_t size_of(const fs::path& file) {
  std::error_code absent;
  const auto size = fs::file_size(file, absent);
  return absent ? 0 : size;
}

/// The pages that finished transactions left in the -wal file of a program that was killed.
std::set<std::uint64_t> pages_in_wal(const fs::path& file, std::uint64_t page_bytes) {
  std::ifstream stream(file.string() + "-wal", std::ios::binary);
  const std::string head = first_bytes(stream, 32);
  std::set<std::uint64_t> finished;
  std::set<std::uint64_t> pages;
  while (head.size() == 32) {
    const std::string frame = first_bytes(stream, 24);
    if (frame.size() < 24 || frame.substr(8, 8) != head.substr(16, 8)) break;  // of an older use
    if (first_bytes(stream, page_bytes).size() < page_bytes) break;
    pages.insert(number_at(frame, 0));
    if (number_at(frame, 4) != 0) finished = pages;
  }
  return finished;
}

/// Whether every page that a file says it has is there, or was about to be written when its program
/// was killed.
bool is_whole(const fs::path& file, const FileHead& head) {
  const auto there = size_of(file) / std::max<std::uint64_t>(head.page_bytes(), 1);
  if (there >= head.pages()) return true;
  const auto waiting = pages_in_wal(file, head.page_bytes());
  for (auto page = there + 1; page <= head.pages(); ++page)
    if (waiting.count(page) == 0) return false;
  return true;
}

bool may(const fs::path& file, int what) {
  return ::faccessat(AT_FDCWD, file.c_str(), what, AT_EACCESS) == 0;
}

/// SQLite writes files beside a store.
bool can_be_written(const fs::path& file) {
  return may(file, W_OK) && may(fs::absolute(file).parent_path(), W_OK);
}

/// What can be seen without SQLite, which would mend a file or give it another form by opening it.
util::Result<void> look_at(const fs::path& file) {
  if (!may(file, R_OK) && errno == EACCES)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("the store {}: no permission to read it; change that, or name "
                                  "another one with --db FILE",
                                  file.string()));
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
  if (!is_whole(file, head))
    return refused(file, fmt::format("it is damaged, {} bytes long where it says {}", size,
                                     head.page_bytes() * head.pages()));
  return {};
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
  // SQLite would make a database that is gone when it is closed.
  if (file.empty())
    return util::fail(util::ErrorKind::usage,
                      "--db has an empty name: give the file of the store, or leave --db out");
  std::error_code problem;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), problem);
  if (problem)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("the store {}: its folder cannot be made ({}); name another one "
                                  "with --db FILE",
                                  file.string(), problem.message()));
  PACELINE_TRY(look_at(file));
  PACELINE_TRY_ASSIGN(auto database, Database::open(file));
  database.tidy_up_at_close(false);
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

util::Result<Database> open_to_read(const fs::path& file) {
  std::error_code unknown;
  if (!fs::exists(file, unknown) || can_be_written(file)) return open_database(file);
  PACELINE_TRY(look_at(file));
  PACELINE_TRY_ASSIGN(auto database, Database::open_read_only(file));
  PACELINE_TRY_ASSIGN(const auto found, database.number("PRAGMA user_version"));
  if (found == version) return database;
  return refused(file, fmt::format("it has the tables of version {}, this one reads {}, and no "
                                   "permission to write it is there",
                                   found, version));
}

}  // namespace paceline::store
