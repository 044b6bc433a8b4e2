#include "report/score.hpp"

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using util::Align;
using util::printable;

/// In percent; a chance far under what a table shows is said to be so, and not 0.
std::string share(double value) {
  constexpr double least_shown = 0.00005;
  if (value > 0 && value < least_shown) return "<0.01 %";
  return with_interval({value, {}, {}, {}, {}, 0, {}}, percent, false);
}

std::vector<util::Cell> cells(const document::ScoreRow& row) {
  return {{printable(row.arm)},
          {printable(row.task)},
          {row.depth ? std::to_string(*row.depth) : ""},
          {fmt::format("{}/{}", row.right, row.score.n)},
          {with_interval(row.score, percent, true)},
          {share(row.chance)},
          {row.blind.value ? share(*row.blind.value) : "unknown"}};
}

}  // namespace

std::string score(const document::Score& score, const Style& style) {
  util::TextTable table;
  table.add_column("arm", Align::left);
  table.add_column("task", Align::left);
  for (const char* heading : {"depth", "right", "score", "chance", "blind"})
    table.add_column(heading, Align::right);
  for (const auto& row : score.rows) table.add_row(cells(row));
  std::string text = table.render(2, style.colour);
  text += "\n" + wrapped(
                     "Intervals are 95 % over questions (Wilson). Chance: a blind answer of the "
                     "right form. Blind: each question given the right answer of another one.",
                     2, style.width);
  for (const auto& note : score.notes) text += wrapped("Note: " + printable(note), 2, style.width);
  return text;
}

}  // namespace paceline::report
