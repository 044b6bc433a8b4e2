#include "util/text_table.hpp"

#include <algorithm>
#include <utility>

#include "util/assert.hpp"
#include "util/printable.hpp"

namespace paceline::util {

namespace {

constexpr std::size_t gap = 2;

const char* escape_sequence(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::good:
      return "\x1b[32m";
    case Emphasis::bad:
      return "\x1b[31m";
    case Emphasis::heading:
      return "\x1b[1m";
    case Emphasis::none:
      break;
  }
  return "";
}

}  // namespace

std::string emphasised(const std::string& text, Emphasis emphasis, bool colour) {
  if (!colour || emphasis == Emphasis::none || text.empty()) return text;
  return escape_sequence(emphasis) + text + "\x1b[0m";
}

void TextTable::add_column(std::string heading, Align align) {
  columns_.push_back({{std::move(heading), Emphasis::heading}, align});
}

void TextTable::add_row(std::vector<Cell> cells) {
  PACELINE_ASSERT(cells.size() <= columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::column_widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(columns(column.heading.text));
  for (const auto& row : rows_)
    for (std::size_t index = 0; index < row.size(); ++index)
      widths[index] = std::max(widths[index], columns(row[index].text));
  return widths;
}

std::size_t TextTable::width(std::size_t indent) const {
  std::size_t total = 0;
  for (const std::size_t width : column_widths())
    if (width > 0) total += width + (total > 0 ? gap : 0);
  return indent + total;
}

std::string TextTable::line(const std::vector<Cell>& cells, const std::vector<std::size_t>& widths,
                            std::size_t indent, bool colour) const {
  // Spaces are owed until something follows them, so that no line ends in one.
  std::string text;
  std::size_t owed = indent;
  for (std::size_t index = 0; index < cells.size(); ++index) {
    if (widths[index] == 0) continue;
    const Cell& cell = cells[index];
    const std::size_t padding = widths[index] - columns(cell.text);
    const bool right = columns_[index].align == Align::right;
    if (right) owed += padding;
    if (!cell.text.empty()) {
      text += std::string(owed, ' ') + emphasised(cell.text, cell.emphasis, colour);
      owed = 0;
    }
    owed += gap + (right ? 0 : padding);
  }
  return text + '\n';
}

std::string TextTable::render(std::size_t indent, bool colour) const {
  const auto widths = column_widths();
  std::vector<Cell> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  std::string text = line(headings, widths, indent, colour);
  for (const auto& row : rows_) text += line(row, widths, indent, colour);
  return text;
}

}  // namespace paceline::util
