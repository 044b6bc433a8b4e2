#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "document/known.hpp"
#include "report/format.hpp"
#include "report/notes.hpp"
#include "report/terminal.hpp"
#include "util/text_table.hpp"

// Tables that show fewer intervals where the terminal is narrow.

namespace paceline::report {

inline constexpr std::size_t table_indent = 1;

/// The line above a table; an empty line where `text` is empty.
std::string table_heading(const std::string& text, const Style& style);

/// A figure, or "-", with the number of its reason where it lacks a value or an interval.
std::string shown(const document::Quantity& quantity, Unit unit, bool interval, Notes& notes);

/// What a table's columns show with intervals at one level of detail: 0 is all of them, and each
/// further level leaves out the next column's in the order in which they matter least.
using Level = int;

struct Tables {
  std::vector<std::pair<std::string, util::TextTable>> parts;  ///< with the line above each
  Notes notes;
};

/// The tables at the first level where all of them fit, or at the last level. build(level, notes)
/// gets a copy of the notes, so that attempts that were too wide leave none behind.
template <class Build>
std::string fitted(Level last, const Style& style, Notes& notes, Build build) {
  Tables tables;
  for (Level level = 0; level <= last; ++level) {
    tables.notes = notes;
    tables.parts = build(level, tables.notes);
    if (std::all_of(tables.parts.begin(), tables.parts.end(), [&](const auto& part) {
          return std::cmp_less_equal(part.second.width(table_indent), style.width);
        }))
      break;
  }
  notes = tables.notes;
  std::string text;
  for (const auto& [above, table] : tables.parts)
    text += table_heading(above, style) + table.render(table_indent, style.colour);
  return text;
}

}  // namespace paceline::report
