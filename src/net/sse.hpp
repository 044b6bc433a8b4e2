#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::net {

/// One event of a text/event-stream.
struct SseEvent {
  std::string name;  ///< of "event:"; empty: a plain message
  std::string data;  ///< "data:" lines joined by newlines
};

/// Cuts a stream of bytes, however it is split into reads, into events by the WHATWG standard. An
/// event without data (a comment, a heartbeat) is none. Data that never ends is given up with an
/// error once it is longer than `longest`.
class SseParser {
 public:
  explicit SseParser(std::size_t longest = std::size_t{16} << 20);

  /// Appends the events that `bytes` completed.
  void feed(std::string_view bytes, std::vector<SseEvent>& events);

  /// The stream ended: an event that its blank line never completed is dropped by the standard;
  /// true when there was one, or a line that is no comment was cut off. Then a new stream begins.
  bool finish();

  /// Whether it gave up; nothing is read any more.
  bool too_long() const { return too_long_; }

 private:
  void take_line(std::string_view line, std::vector<SseEvent>& events);
  void take_field(std::string_view name, std::string_view value);
  std::string_view without_byte_order_mark(std::string_view line);
  void give_up();

  std::size_t longest_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool at_start_ = true;
  bool too_long_ = false;
};

/// Cuts a stream into lines, as newline-delimited JSON has them; empty lines are none, and a
/// carriage return before the newline belongs to neither. Gives up as SseParser does.
class LineParser {
 public:
  explicit LineParser(std::size_t longest = std::size_t{16} << 20);
  void feed(std::string_view bytes, std::vector<std::string>& lines);
  /// The last line, when no newline ended it; then a new stream begins.
  std::string finish();
  bool too_long() const { return too_long_; }

 private:
  void take_line(std::string_view line, std::vector<std::string>& lines);

  std::size_t longest_;
  std::string line_;
  bool too_long_ = false;
};

}  // namespace paceline::net
