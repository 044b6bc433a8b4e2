#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "util/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

// SQLite, as much of it as the store needs. Whatever goes wrong is a sentence that names the file.

namespace paceline::store {

class Database;

/// One prepared statement. Places for values are bound in their order; rows are read column by
/// column while step() says that there is one.
class Statement {
 public:
  Statement& bind(std::int64_t value);
  Statement& bind(int value) { return bind(std::int64_t{value}); }
  Statement& bind(std::optional<std::int64_t> value);
  Statement& bind(std::optional<double> value);
  Statement& bind(std::string_view text);
  Statement& bind(const std::optional<std::string>& text);
  Statement& bind_blob(std::string_view bytes);

  /// True: a row is there. False: it is done.
  util::Result<bool> step();
  /// A statement that gives no rows.
  util::Result<void> run();

  std::int64_t integer(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<double> real(int column) const;
  std::string text(int column) const;
  std::optional<std::string> optional_text(int column) const;
  /// Valid until the next step.
  std::string_view blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  bool is_null(int column) const;

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  int problem_ = 0;  ///< of the first bind that failed
};

class Database {
 public:
  /// Opens the file, or creates an empty one; reads and changes nothing yet.
  static util::Result<Database> open(const std::filesystem::path& file);

  /// To look into a file that is there and cannot be written.
  static util::Result<Database> open_read_only(const std::filesystem::path& file);

  util::Result<Statement> prepare(std::string_view sql);

  /// Several statements without values.
  util::Result<void> run(const char* sql);

  /// One statement with its values.
  template <class... Values>
  util::Result<void> run(std::string_view sql, const Values&... values) {
    auto statement = prepare(sql);
    if (!statement) return tl::unexpected<util::Error>(std::move(statement.error()));
    (statement->bind(values), ...);
    return statement->run();
  }

  /// The first column of the only row; an error without one.
  util::Result<std::int64_t> number(std::string_view sql);

  std::int64_t last_key() const;  ///< of the last row put in
  std::int64_t changed() const;   ///< rows that the last statement changed
  bool in_transaction() const;
  const std::filesystem::path& file() const { return file_; }

  /// With false closing leaves the files as they are, what waits in the -wal file included.
  void tidy_up_at_close(bool tidy);

  /// What SQLite's code means, and what to do next.
  util::Error problem(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  static util::Result<Database> open_as(const std::filesystem::path& file, const std::string& name,
                                        int flags);
  Database(std::filesystem::path file, sqlite3* database)
      : file_(std::move(file)), database_(database) {}

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> database_;
};

/// Everything until commit() happens, or nothing. Within another one it is a part of that one.
class Transaction {
 public:
  static util::Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept
      : database_(other.database_), open_(std::exchange(other.open_, false)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  util::Result<void> commit();

 private:
  Transaction(Database& database, bool open) : database_(&database), open_(open) {}

  Database* database_;
  bool open_;
};

}  // namespace paceline::store
