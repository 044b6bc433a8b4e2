#include "store/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

namespace paceline::store {

namespace {

/// How long another program may hold the store; nothing is being timed meanwhile.
constexpr int patience_ms = 60'000;

std::string words_for(int code, const char* said) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full; what was finished is in it: free some space and go on with "
             "--resume";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program has held it for a minute; wait for that one, or name another store "
             "with --db FILE";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fmt::format(
          "it is damaged or no store ({}); it was left as it is: move it away, or name another "
          "one with --db FILE",
          said);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return fmt::format("it cannot be written ({}); name another one with --db FILE", said);
    case SQLITE_IOERR:
      return fmt::format(
          "the disk or a limit on file sizes refused ({}); what was finished is in it", said);
    default:
      return said;
  }
}

util::ErrorKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return util::ErrorKind::usage;
    default:
      return util::ErrorKind::internal;
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(std::int64_t value) {
  problem_ = problem_ != 0 ? problem_ : sqlite3_bind_int64(statement_.get(), ++bound_, value);
  return *this;
}

Statement& Statement::bind(std::optional<std::int64_t> value) {
  if (value) return bind(*value);
  problem_ = problem_ != 0 ? problem_ : sqlite3_bind_null(statement_.get(), ++bound_);
  return *this;
}

Statement& Statement::bind(std::optional<double> value) {
  if (!value) return bind(std::optional<std::int64_t>());
  problem_ = problem_ != 0 ? problem_ : sqlite3_bind_double(statement_.get(), ++bound_, *value);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  problem_ = problem_ != 0 ? problem_
                           : sqlite3_bind_text64(statement_.get(), ++bound_, text.data(),
                                                 text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(const std::optional<std::string>& text) {
  return text ? bind(std::string_view(*text)) : bind(std::optional<std::int64_t>());
}

Statement& Statement::bind_blob(std::string_view bytes) {
  problem_ = problem_ != 0 ? problem_
                           : sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(),
                                                 bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

util::Result<bool> Statement::step() {
  const int code = problem_ != 0 ? problem_ : sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected<util::Error>(database_->problem(code));
}

util::Result<void> Statement::run() {
  PACELINE_TRY(step());
  return {};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<double> Statement::real(int column) const {
  if (is_null(column)) return std::nullopt;
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const { return std::string(blob(column)); }

std::optional<std::string> Statement::optional_text(int column) const {
  return is_null(column) ? std::nullopt : std::optional(text(column));
}

std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string_view()
                          : std::string_view(bytes, static_cast<std::size_t>(size));
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

util::Result<Database> Database::open(const std::filesystem::path& file) {
  return open_as(file, file.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

// Of a store whose -wal file is empty SQLite is told that nothing changes it: else it would want to
// write its files beside it. https://sqlite.org/uri.html
util::Result<Database> Database::open_read_only(const std::filesystem::path& file) {
  std::error_code absent;
  const auto waiting = std::filesystem::file_size(file.string() + "-wal", absent);
  std::string name = "file://";
  for (const char letter : std::filesystem::absolute(file).string())
    name += letter == '%' || letter == '?' || letter == '#'
                ? fmt::format("%{:02x}", static_cast<unsigned>(letter))
                : std::string(1, letter);
  if (absent || waiting == 0) name += "?immutable=1";
  return open_as(file, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

util::Result<Database> Database::open_as(const std::filesystem::path& file, const std::string& name,
                                         int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  Database database(file, handle);
  if (code != SQLITE_OK) return tl::unexpected<util::Error>(database.problem(code));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, patience_ms);
  // A hostile file must not run code of its choice.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

util::Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) return tl::unexpected<util::Error>(problem(code));
  return Statement(*this, statement);
}

util::Result<void> Database::run(const char* sql) {
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected<util::Error>(problem(code));
  return {};
}

util::Result<std::int64_t> Database::number(std::string_view sql) {
  PACELINE_TRY_ASSIGN(auto statement, prepare(sql));
  PACELINE_TRY_ASSIGN(const bool there, statement.step());
  if (!there) return tl::unexpected<util::Error>(problem(SQLITE_CORRUPT));
  return statement.integer(0);
}

std::int64_t Database::last_key() const { return sqlite3_last_insert_rowid(database_.get()); }

std::int64_t Database::changed() const { return sqlite3_changes64(database_.get()); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

void Database::tidy_up_at_close(bool tidy) {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, tidy ? 0 : 1, nullptr);
}

util::Error Database::problem(int code) const {
  const char* said = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code);
  return {kind_of(code), fmt::format("the store {}: {}", file_.string(), words_for(code, said))};
}

util::Result<Transaction> Transaction::begin(Database& database) {
  if (database.in_transaction()) return Transaction(database, false);
  PACELINE_TRY(database.run("BEGIN IMMEDIATE"));
  return Transaction(database, true);
}

Transaction::~Transaction() {
  if (open_ && database_->in_transaction()) static_cast<void>(database_->run("ROLLBACK"));
}

util::Result<void> Transaction::commit() {
  if (open_) PACELINE_TRY(database_->run("COMMIT"));
  open_ = false;
  return {};
}

}  // namespace paceline::store
