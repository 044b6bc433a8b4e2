#include "report/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/fitted.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Arm;
using document::Document;
using document::Workload;
using util::Align;
using util::Cell;
using util::TextTable;

std::string counted(const document::Known<long>& count, Notes& notes) {
  return count.value ? std::to_string(*count.value) : "- " + notes.mark(count.reason);
}

std::vector<Cell> drafter_row(const document::DrafterCounts& drafter, Notes& notes) {
  return {{util::printable(drafter.drafter)},
          {counted(drafter.attempts, notes)},
          {counted(drafter.passes_speculative, notes)},
          {counted(drafter.accepted, notes) + " of " + counted(drafter.offered, notes)}};
}

/// "4: 812, 1: 17, 2: 2": the most frequent ones.
std::string counts_text(const document::WidthHistogram& histogram) {
  constexpr std::size_t most_shown = 6;
  auto widths = histogram.by_width;
  std::stable_sort(widths.begin(), widths.end(),
                   [](const auto& one, const auto& other) { return one.passes > other.passes; });
  std::string text;
  for (std::size_t i = 0; i < std::min(widths.size(), most_shown); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", widths[i].width, widths[i].passes);
  return widths.size() > most_shown ? text + ", .." : text;
}

}  // namespace

std::string drafter_table(const Document& document, const Style& style, Notes& notes) {
  TextTable table;
  for (const char* name : {"arm", "class", "drafter", "asked", "drafted", "accepted"})
    table.add_column(name, Align::left);
  bool any = false;
  for (const Arm& arm : document.arms) {
    std::string name = util::printable(arm.name);
    for (const Workload& workload : arm.workloads) {
      if (workload.acceptance.by_drafter.size() < 2) continue;
      any = true;
      std::string workload_class = util::printable(workload.workload_class);
      for (const auto& drafter : workload.acceptance.by_drafter) {
        std::vector<Cell> cells = {{std::exchange(name, "")}, {std::exchange(workload_class, "")}};
        for (auto& cell : drafter_row(drafter, notes)) cells.push_back(std::move(cell));
        table.add_row(std::move(cells));
      }
    }
  }
  if (!any) return "";
  return table_heading(
             "Drafters of an arm: passes that asked them, passes they drafted for, tokens", style) +
         table.render(table_indent, style.colour);
}

std::string pass_width_table(const Document& document, const Style& style) {
  TextTable table;
  for (const char* name : {"arm", "class", "tokens in a pass: passes"})
    table.add_column(name, Align::left);
  bool any = false;
  for (const Arm& arm : document.arms) {
    std::string name = util::printable(arm.name);
    for (const Workload& workload : arm.workloads) {
      const auto& widths = workload.widths.value;
      if (!speculates(arm) || !widths || widths->by_width.empty()) continue;
      any = true;
      table.add_row({{std::exchange(name, "")},
                     {util::printable(workload.workload_class)},
                     {counts_text(*widths)}});
    }
  }
  if (!any) return "";
  return table_heading("Widths of passes, replays included", style) +
         table.render(table_indent, style.colour);
}

}  // namespace paceline::report
