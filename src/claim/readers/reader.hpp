#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "claim/row.hpp"
#include "util/json.hpp"

namespace paceline::claim {

/// One line of the text, without its end.
struct Line {
  std::string_view text;
  long number = 0;

  std::string source() const { return "line " + std::to_string(number); }
};

/// What readers put their rows into. References to rows stay valid.
class Collector {
 public:
  /// Rows past `most_rows` are read and dropped, and that is remarked.
  Row& add_row(const char* format, std::string label);
  int new_group() { return ++group_; }
  int group() const { return group_; }
  /// The row that a stream of that name fills, empty again: its last message counts.
  Row& stream_row(const char* format, const std::string& name);
  /// Says a fact in words of all rows of the last group that do not say it.
  void add_context(const char* name, const std::string& value);
  void remark(const char* kind, const std::string& row, std::string says);
  Sheet take();

 private:
  std::deque<Row> rows_;
  std::map<std::string, Row*> streams_;
  Row dropped_;
  bool any_dropped_ = false;
  int group_ = 0;
  Sheet sheet_;
};

/// Reads one kind of output line by line.
class LineReader {
 public:
  virtual ~LineReader() = default;
  /// Whether the line is of its kind; if so it was read.
  virtual bool take(const Line& line, Collector& out) = 0;
  /// After the last line.
  virtual void end(Collector&) {}
};

/// All of them, in the order in which they are asked.
std::vector<std::unique_ptr<LineReader>> line_readers();

std::unique_ptr<LineReader> make_table_reader();
std::unique_ptr<LineReader> make_llama_log_reader();
std::unique_ptr<LineReader> make_engine_log_reader();
std::unique_ptr<LineReader> make_metrics_reader();
std::unique_ptr<LineReader> make_label_reader();
std::unique_ptr<LineReader> make_perplexity_reader();

/// Reads one JSON value that starts at `line`; false when it is of no known kind.
bool read_object(const util::Json& json, const Line& line, Collector& out);

// Its parts, each for objects of its kind.
bool read_bench_object(const util::Json& json, const Line& line, Collector& out);
bool read_server_object(const util::Json& json, const Line& line, Collector& out);
bool read_peer_results(const util::Json& json, const Line& line, Collector& out);
bool read_own_document(const util::Json& json, const Line& line, Collector& out);

/// Adds a figure that the text at `at` begins with, in its unit; false when it begins with none.
bool add_figure(Row& row, Figure figure, std::string_view text, const Line& line,
                std::string_view unit = {}, const char* definition = "");

/// What stands behind the first `key` in a line, blanks, colons and equals signs skipped; nothing
/// when the key is not there.
std::optional<std::string_view> behind(std::string_view text, std::string_view key);

/// The word, or number, that a text begins with.
std::string_view first_word(std::string_view text);

/// The text without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// Says that a row is of plain decoding, where one of its words says so.
void mark_plain(Row& row, std::string_view words);

}  // namespace paceline::claim
