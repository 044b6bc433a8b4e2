#include "claim/text.hpp"

#include <algorithm>

#include "claim/readers/reader.hpp"

namespace paceline::claim {

namespace {

constexpr std::size_t longest_line = 1 << 16;
constexpr std::size_t most_keys = 4096;
constexpr std::size_t json_budget = 4;  ///< bytes looked at for objects over bytes of the text

/// Where a balanced value that begins at the text's start ends; npos: nowhere.
std::size_t end_of_value(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return at + 1;
    }
  }
  return std::string_view::npos;
}

/// Where a value may begin in a line: an object, a list of objects, or what stands behind a key or
/// the mark of an event.
std::size_t start_of_value(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return first;
  const std::string_view text = line.substr(first);
  const auto opens = [](std::string_view at) {
    if (at.empty() || (at.front() != '{' && at.front() != '[')) return false;
    const std::string_view next = trimmed(at.substr(1));
    return next.empty() || next.front() == '"' || next.front() == '{' || next.front() == '[' ||
           next.front() == '}';
  };
  if (opens(text)) return first;
  const bool is_event = text.starts_with("data:");
  if (!is_event && !text.starts_with('"')) return std::string_view::npos;
  const std::size_t brace = line.find('{', first);
  return brace != std::string_view::npos && opens(line.substr(brace)) ? brace
                                                                      : std::string_view::npos;
}

class TextReader {
 public:
  TextReader(std::string_view text, const std::string& name) : text_(text), budget_(0) {
    input_.name = name;
    budget_ = json_budget * text.size() + longest_line;
  }

  Sheet run() {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      Line line{text_.substr(at_, end - at_), ++number_};
      if (line.text.ends_with('\r')) line.text.remove_suffix(1);
      if (!take_value(line) && !take_line(line) && !trimmed(line.text).empty()) ++input_.skipped;
      at_ = std::max(end + 1, at_);
    }
    for (const auto& reader : readers_) reader->end(out_);
    Sheet sheet = out_.take();
    for (const Row& row : sheet.rows)
      if (std::find(input_.formats.begin(), input_.formats.end(), row.format) ==
          input_.formats.end())
        input_.formats.push_back(row.format);
    input_.lines = number_;
    sheet.inputs.push_back(std::move(input_));
    return sheet;
  }

 private:
  bool take_line(const Line& line) {
    if (line.text.size() > longest_line) return false;
    for (const auto& reader : readers_)
      if (reader->take(line, out_)) {
        ++input_.understood;
        return true;
      }
    return false;
  }

  /// Reads a value that begins in the line, over as many lines as it has.
  bool take_value(const Line& line) {
    const std::size_t start = start_of_value(line.text);
    if (start == std::string_view::npos) return false;
    const std::size_t from = at_ + start;
    const bool may_be_long = budget_ > 0;
    const std::string_view all =
        may_be_long ? text_.substr(from, budget_) : line.text.substr(start);
    const std::size_t length = end_of_value(all);
    if (may_be_long)
      budget_ -= std::min(budget_, length == std::string_view::npos ? all.size() : length);
    if (length == std::string_view::npos) return may_be_long && take_short_value(line, start);
    const std::string_view value = all.substr(0, length);
    const auto json = util::parse_json(value, "The value", most_keys);
    if (!json || !read_named(*json, line, start)) return false;
    const long lines = static_cast<long>(std::count(value.begin(), value.end(), '\n'));
    input_.understood += lines + 1;
    number_ += lines;
    const std::size_t rest = text_.find('\n', from + length);
    at_ = rest == std::string_view::npos ? text_.size() : rest + 1;
    return true;
  }

  /// The line alone, when what begins in it never ends.
  bool take_short_value(const Line& line, std::size_t start) {
    const std::string_view all = line.text.substr(start);
    const std::size_t length = end_of_value(all);
    if (length == std::string_view::npos) return false;
    const auto json = util::parse_json(all.substr(0, length), "The value", most_keys);
    if (!json || !read_named(*json, line, start)) return false;
    ++input_.understood;
    return true;
  }

  /// `"timings": {..}` is a part of an object, and read as if it were one.
  bool read_named(const util::Json& json, const Line& line, std::size_t start) {
    const std::string_view before = trimmed(line.text.substr(0, start));
    if (!before.starts_with('"')) return read_object(json, line, out_);
    const std::size_t end = before.find('"', 1);
    if (end == std::string_view::npos) return false;
    const std::string key(before.substr(1, end - 1));
    return read_object(util::Json{{key, json}}, line, out_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t budget_;
  long number_ = 0;
  document::ClaimInput input_;
  Collector out_;
  std::vector<std::unique_ptr<LineReader>> readers_ = line_readers();
};

}  // namespace

Sheet read_text(std::string_view text, const std::string& name) {
  return TextReader(text, name).run();
}

}  // namespace paceline::claim
