#include "cli/words.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "util/misused.hpp"

namespace paceline::cli {

namespace {

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

/// Words in the making.
struct Words {
  std::vector<std::string> done;
  std::optional<std::string> open;  ///< absent between words

  void put(char letter) { open = open.value_or("") + letter; }
  void end() {
    if (open) done.push_back(std::move(*open));
    open.reset();
  }
};

}  // namespace

util::Result<std::vector<std::string>> split_words(std::string_view text) {
  Words words;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.put(text[++i]);
    } else if (quote != '\0') {
      if (letter == quote)
        quote = '\0';
      else
        words.put(letter);
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      words.open = words.open.value_or("");
    } else if (letter == ' ' || letter == '\t' || letter == '\n') {
      words.end();
    } else {
      words.put(letter);
    }
  }
  if (quote != '\0') return util::misused("{} opens a quote {} that does not end", text, quote);
  words.end();
  return std::move(words.done);
}

util::Result<double> read_share(const std::string& option, const std::string& text) {
  const bool in_percent = text.ends_with('%');
  const auto value = number(in_percent ? std::string_view(text).substr(0, text.size() - 1) : text);
  const double share = value.value_or(0) / (in_percent ? 100 : 1);
  if (share > 0 && share < 1) return share;
  return util::misused("{} {}: a share between 0 and 1 was expected, as 3% or 0.03", option, text);
}

util::Result<double> read_duration(const std::string& option, const std::string& text) {
  const char unit = text.empty() ? '\0' : text.back();
  const double seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
  const auto value = number(std::string_view(text).substr(0, text.empty() ? 0 : text.size() - 1));
  if (value && *value * seconds > 0) return *value * seconds;
  return util::misused("{} {}: a time was expected, as 90s, 10m or 1.5h", option, text);
}

}  // namespace paceline::cli
