#include "net/sse.hpp"

#include <algorithm>
#include <utility>

namespace paceline::net {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Finds the next CR or LF by two searches that the C library does many bytes at a time; each byte
/// is searched once for either, however the lines end.
class LineEnds {
 public:
  explicit LineEnds(std::string_view bytes) : bytes_(bytes) {}

  /// The first at or behind `from`; npos when there is none.
  std::size_t next(std::size_t from) {
    if (line_feed_ < from || from == 0) line_feed_ = bytes_.find('\n', from);
    if (carriage_return_ < from || from == 0) carriage_return_ = bytes_.find('\r', from);
    return std::min(line_feed_, carriage_return_);
  }

 private:
  std::string_view bytes_;
  std::size_t line_feed_ = 0;
  std::size_t carriage_return_ = 0;
};

}  // namespace

SseParser::SseParser(std::size_t longest) : longest_(longest) {}

void SseParser::feed(std::string_view bytes, std::vector<SseEvent>& events) {
  LineEnds ends(bytes);
  std::size_t at = 0;
  while (at < bytes.size() && !too_long_) {
    if (std::exchange(after_cr_, false) && bytes[at] == '\n') {
      ++at;
      continue;
    }
    const std::size_t end = ends.next(at);
    const std::string_view piece = bytes.substr(at, end - at);
    // The same sum whether a line comes whole or in pieces, so that both are given up alike.
    if (line_.size() + piece.size() + event_.data.size() > longest_) return give_up();
    if (end == std::string_view::npos) {
      line_.append(piece);
      return;
    }
    after_cr_ = bytes[end] == '\r';
    at = end + 1;
    if (line_.empty()) {
      take_line(piece, events);
    } else {
      line_.append(piece);
      const std::string whole = std::exchange(line_, {});
      take_line(whole, events);
    }
  }
}

void SseParser::take_line(std::string_view line, std::vector<SseEvent>& events) {
  line = without_byte_order_mark(line);
  at_start_ = false;
  if (line.empty()) {
    // Without a data line there is no event: what comments and heartbeats leave behind (C134).
    if (has_data_) events.push_back(std::move(event_));
    event_ = {};
    has_data_ = false;
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return take_field(line, {});
  std::string_view value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
}

// Names are compared as they are: the standard knows no "Data:". A comment's name is empty.
void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) event_.data.push_back('\n');
    event_.data.append(value);
    has_data_ = true;
  } else if (name == "event") {
    event_.name = value;
  }
}

std::string_view SseParser::without_byte_order_mark(std::string_view line) {
  if (at_start_ && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  return line;
}

bool SseParser::finish() {
  const std::string_view rest = without_byte_order_mark(line_);
  const bool dropped = has_data_ || (!rest.empty() && rest.front() != ':');
  *this = SseParser(longest_);
  return dropped;
}

void SseParser::give_up() {
  *this = SseParser(longest_);
  too_long_ = true;
}

LineParser::LineParser(std::size_t longest) : longest_(longest) {}

void LineParser::feed(std::string_view bytes, std::vector<std::string>& lines) {
  while (!bytes.empty() && !too_long_) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() > longest_) {
      line_ = {};
      too_long_ = true;
      return;
    }
    line_.append(piece);
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    take_line(std::exchange(line_, {}), lines);
  }
}

void LineParser::take_line(std::string_view line, std::vector<std::string>& lines) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.empty()) lines.emplace_back(line);
}

std::string LineParser::finish() {
  std::vector<std::string> last;
  take_line(line_, last);
  *this = LineParser(longest_);
  return last.empty() ? std::string() : std::move(last.front());
}

}  // namespace paceline::net
