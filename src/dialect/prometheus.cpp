#include "dialect/prometheus.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "dialect/fields.hpp"

namespace paceline::dialect {

namespace {

constexpr std::size_t most_positions = 4096;

/// One line "name{label="value"} 1.5 timestamp".
struct Sample {
  std::string_view name;
  std::optional<std::string> position;
  double value = 0;
};

/// Reads a line from left to right; every step says whether the line still makes sense.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  std::optional<Sample> sample() {
    Sample sample;
    sample.name = name(true);
    if (sample.name.empty()) return std::nullopt;
    skip_blanks();
    if (take('{') && !labels(sample)) return std::nullopt;
    skip_blanks();
    if (!number(sample.value)) return std::nullopt;
    skip_blanks();
    if (rest_.empty() || rest_.front() == '#') return sample;  // an exemplar may follow
    double timestamp = 0;
    if (!number(timestamp)) return std::nullopt;
    skip_blanks();
    if (rest_.empty() || rest_.front() == '#') return sample;
    return std::nullopt;
  }

 private:
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view name(bool with_colons) {
    std::size_t end = 0;
    while (end < rest_.size() && (is_letter(rest_[end]) || (with_colons && rest_[end] == ':') ||
                                  (end > 0 && is_digit(rest_[end]))))
      ++end;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }

  bool labels(Sample& sample) {
    while (true) {
      skip_blanks();
      if (take('}')) return true;
      const std::string_view label = name(false);
      skip_blanks();
      if (label.empty() || !take('=')) return false;
      skip_blanks();
      auto value = quoted();
      if (!value) return false;
      if (label == "position" || label == "token_position") sample.position = std::move(value);
      skip_blanks();
      if (take(',')) continue;
      return take('}');
    }
  }

  std::optional<std::string> quoted() {
    if (!take('"')) return std::nullopt;
    std::string value;
    for (std::size_t at = 0; at < rest_.size(); ++at) {
      if (rest_[at] == '"') {
        rest_.remove_prefix(at + 1);
        return value;
      }
      if (rest_[at] == '\\' && ++at == rest_.size()) break;
      value += rest_[at];
    }
    return std::nullopt;
  }

  bool number(double& value) {
    std::string_view digits = rest_;
    if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range)
      value = std::numeric_limits<double>::infinity();
    else if (error != std::errc())
      return false;
    rest_ = std::string_view(stop, static_cast<std::size_t>(end - stop));
    return rest_.empty() || is_blank(rest_.front());
  }

  std::string_view rest_;
};

std::optional<std::size_t> position_of(const std::string& text) {
  std::size_t position = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, position);
  if (error != std::errc() || stop != end || position >= most_positions) return std::nullopt;
  return position;
}

void keep(const Sample& sample, Counters& counters) {
  const std::string name(sample.name);
  if (!std::isfinite(sample.value) || sample.value < 0) {
    add_oddity(counters.oddities, name + " is not a number from 0 on");
    return;
  }
  if (!sample.position) {
    double& sum = counters.values[name];
    if (std::isfinite(sum + sample.value)) sum += sample.value;
    return;
  }
  const auto position = position_of(*sample.position);
  if (!position) {
    add_oddity(counters.oddities, name + " has a position that is none: " + *sample.position);
    return;
  }
  auto& list = counters.by_position[name];
  if (list.size() <= *position) list.resize(*position + 1, 0);
  list[*position] += sample.value;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// The text itself, or what it is the JSON string of (llama.cpp#17386).
util::Result<std::string> unescaped(std::string_view text) {
  auto json = util::parse_json(text, "The answer of the metrics route");
  if (!json) return tl::unexpected<util::Error>(json.error());
  if (json->is_string()) return json->get<std::string>();
  return util::fail(util::ErrorKind::engine,
                    "The answer of the metrics route is JSON, not the text format of Prometheus.");
}

Counters read_lines(std::string_view text, std::initializer_list<std::string_view> names,
                    bool& any_sample) {
  Counters counters;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const auto sample = Line(line).sample();
    if (!sample) {
      add_oddity(counters.oddities,
                 "not a sample of a metric: " + std::string(line.substr(0, 100)));
      continue;
    }
    any_sample = true;
    if (std::find(names.begin(), names.end(), sample->name) != names.end()) keep(*sample, counters);
  }
  return counters;
}

}  // namespace

util::Result<Counters> read_prometheus(std::string_view text,
                                       std::initializer_list<std::string_view> names) {
  std::string plain;
  text = trimmed(text);
  if (!text.empty() && (text.front() == '"' || text.front() == '{' || text.front() == '[')) {
    PACELINE_TRY_ASSIGN(plain, unescaped(text));
    text = plain;
  }
  bool any_sample = false;
  Counters counters = read_lines(text, names, any_sample);
  if (!any_sample && !counters.oddities.empty())
    return util::fail(util::ErrorKind::engine,
                      "The answer of the metrics route is not the text format of Prometheus; " +
                          counters.oddities.front() + ".");
  return counters;
}

std::optional<double> counter(const Counters& counters, std::string_view name) {
  const auto found = counters.values.find(std::string(name));
  return found == counters.values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace paceline::dialect
