#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace paceline::util {

enum class Align { left, right };

/// How a piece of text stands out where colour is on.
enum class Emphasis { none, good, bad, heading };

/// The text with the escape sequences of its emphasis around it, or as it is without colour.
std::string emphasised(const std::string& text, Emphasis emphasis, bool colour);

struct Cell {
  std::string text;
  Emphasis emphasis = Emphasis::none;
};

/// Columns of text, each as wide as its widest cell, two spaces apart. Columns whose cells and
/// heading are all empty vanish.
class TextTable {
 public:
  void add_column(std::string heading, Align align);

  /// One row; missing cells at its end are empty.
  void add_row(std::vector<Cell> cells);

  /// Columns of the longest line, indent included.
  std::size_t width(std::size_t indent) const;

  /// All lines, each ended by a newline and without spaces at its end.
  std::string render(std::size_t indent, bool colour) const;

 private:
  struct Column {
    Cell heading;
    Align align = Align::left;
  };
  std::vector<std::size_t> column_widths() const;
  std::string line(const std::vector<Cell>& cells, const std::vector<std::size_t>& widths,
                   std::size_t indent, bool colour) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace paceline::util
