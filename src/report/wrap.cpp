#include "report/wrap.hpp"

#include <fmt/format.h>

#include <utility>

#include "util/printable.hpp"

namespace paceline::report {

std::string wrapped(std::string_view text, std::size_t indent, int width) {
  std::string lines;
  std::string line;
  // Spaces before a word belong to it until a line ends there: own indents and gaps stay.
  while (!text.empty()) {
    const auto word_start = text.find_first_not_of(' ');
    if (word_start == std::string_view::npos) break;
    const auto word_end = std::min(text.find(' ', word_start), text.size());
    const auto piece = text.substr(0, word_end);
    const bool overflows = std::cmp_greater(util::columns(line) + util::columns(piece), width);
    if (overflows && line.find_first_not_of(' ') != std::string::npos) {
      lines += line + '\n';
      line = std::string(indent, ' ') + std::string(piece.substr(word_start));
    } else {
      line += piece;
    }
    text.remove_prefix(word_end);
  }
  return lines + line + '\n';
}

std::string labelled(std::string_view label, std::string_view text, std::size_t text_column,
                     int width) {
  constexpr std::size_t margin = 2;
  return wrapped(fmt::format("  {:<{}}{}", label, text_column - margin, text), text_column, width);
}

}  // namespace paceline::report
