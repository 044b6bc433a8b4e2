#include "worker/simple_tokens.hpp"

#include <algorithm>

namespace paceline::worker {

namespace {

constexpr std::size_t longest_number = 3;

bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte & 0x80) != 0;
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

template <class Belongs>
std::size_t run(std::string_view text, std::size_t begin, Belongs belongs) {
  return static_cast<std::size_t>(
      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), belongs) -
      text.begin());
}

/// Bytes of the first token; `text` is not empty.
std::size_t token_length(std::string_view text) {
  const char first = text.front();
  if (is_letter(first)) return run(text, 0, is_letter);
  if (first == ' ' && text.size() > 1 && is_letter(text[1])) return run(text, 1, is_letter);
  if (is_digit(first)) return std::min(run(text, 0, is_digit), longest_number);
  if (!is_space(first)) return 1;
  const std::size_t end = run(text, 0, [first](char byte) { return byte == first; });
  // The last space of several belongs to the word behind them.
  return first == ' ' && end < text.size() && is_letter(text[end]) ? end - 1 : end;
}

}  // namespace

std::vector<std::int32_t> SimpleTokens::of(std::string_view text) {
  std::vector<std::int32_t> tokens;
  while (!text.empty()) {
    const std::size_t length = token_length(text);
    const auto next = static_cast<std::int32_t>(ids_.size());
    tokens.push_back(ids_.try_emplace(std::string(text.substr(0, length)), next).first->second);
    text.remove_prefix(length);
  }
  return tokens;
}

}  // namespace paceline::worker
