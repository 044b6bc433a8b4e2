#include "report/depth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "report/fitted.hpp"
#include "report/format.hpp"
#include "util/printable.hpp"

namespace paceline::report {

namespace {

using document::Arm;
using document::Document;
using document::Workload;
using util::Align;
using util::Cell;
using util::TextTable;

/// Class and depth of every workload, in order, each once.
std::vector<std::pair<std::string, int>> cells_of(const Document& document) {
  std::vector<std::pair<std::string, int>> cells;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads) {
      const std::pair cell{workload.base_class, workload.filled_tokens};
      if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(cell);
    }
  return cells;
}

const Workload* workload_at(const Arm& arm, const std::pair<std::string, int>& cell) {
  for (const Workload& workload : arm.workloads)
    if (workload.filled_tokens == cell.second && workload.base_class == cell.first)
      return &workload;
  return nullptr;
}

/// "84.6  1.51x  K 7": tok/s, what it is against plain, and the longest draft that could pay.
Cell speed_cell(const Arm& arm, const Workload& workload, Notes& notes) {
  const auto& decode = workload.decode;
  std::string text = shown(decode.tokens_per_s, plain_unit, false, notes);
  if (!speculates(arm)) return {text};
  text += "  " + shown(decode.speedup, times, false, notes);
  const bool loses = decode.speedup.high && *decode.speedup.high < 1;
  const bool gains = decode.speedup.low && *decode.speedup.low > 1;
  if (loses) text += " LOSES";
  if (const auto& even = workload.break_even.value)
    text += fmt::format("  K {}{}", even->draft_length, even->is_lower_bound ? "+" : "");
  return {text, loses ? util::Emphasis::bad : gains ? util::Emphasis::good : util::Emphasis::none};
}

std::string known_bytes(const document::Known<std::uint64_t>& known, Notes& notes) {
  return known.value ? bytes(*known.value) : "- " + notes.mark(known.reason);
}

std::string unaccounted_text(const document::Known<std::int64_t>& known, Notes& notes) {
  if (!known.value) return "- " + notes.mark(known.reason);
  const auto size = bytes(static_cast<std::uint64_t>(std::abs(*known.value)));
  return *known.value < 0 ? "-" + size : size;
}

bool is_plain(const Document& document, const std::string& name) {
  return std::any_of(document.arms.begin(), document.arms.end(),
                     [&](const Arm& arm) { return arm.name == name && !speculates(arm); });
}

/// Those of arms without a drafter, the shallowest first.
std::vector<const document::WidthCurve*> plain_curves(const Document& document) {
  std::vector<const document::WidthCurve*> curves;
  for (const auto& curve : document.width_curves)
    if (!curve.widths.empty() && is_plain(document, curve.arm)) curves.push_back(&curve);
  return curves;
}

const document::Width* width_in(const document::WidthCurve& curve, int width) {
  for (const auto& candidate : curve.widths)
    if (candidate.width == width) return &candidate;
  return nullptr;
}

/// "1.32x, 11 %": cost of verifying a draft, and the acceptance that pays for it.
std::string cost_text(const document::Width& width) {
  const double needed = width.acceptance_needed.value.value_or(0);
  if (needed > 1) return fmt::format("{}x, never", figure(*width.cost.value));
  return fmt::format("{}x, {:.0f} %", figure(*width.cost.value), 100 * std::max(needed, 0.0));
}

std::string bar(double cost, double most) {
  constexpr double longest = 24;
  return std::string(static_cast<std::size_t>(std::lround(longest * cost / most)), '#');
}

}  // namespace

std::string depth_table(const Document& document, const Style& style, Notes& notes) {
  const auto cells = cells_of(document);
  std::set<int> depths;
  for (const auto& cell : cells) depths.insert(cell.second);
  if (depths.size() < 2) return "";
  TextTable table;
  table.add_column("class", Align::left);
  table.add_column("depth", Align::right);
  for (const Arm& arm : document.arms) table.add_column(util::printable(arm.name), Align::left);
  std::string above;
  for (const auto& cell : cells) {
    std::vector<Cell> row = {{cell.first == above ? "" : util::printable(cell.first)},
                             {std::to_string(cell.second)}};
    above = cell.first;
    for (const Arm& arm : document.arms) {
      const Workload* workload = workload_at(arm, cell);
      row.push_back(workload == nullptr ? Cell{""} : speed_cell(arm, *workload, notes));
    }
    table.add_row(std::move(row));
  }
  return table_heading(
             "By depth: tok/s, speed-up, and the longest draft K whose verification alone "
             "costs no more than the tokens/pass here",
             style) +
         table.render(table_indent, style.colour);
}

std::string fill_table(const Document& document, const Style& style, Notes& notes) {
  if (document.fills.empty()) return "";
  TextTable table;
  table.add_column("arm", Align::left);
  for (const char* name : {"to depth", "tokens"}) table.add_column(name, Align::right);
  for (const char* name :
       {"prefill tok/s", "drafter", "context", "compute", "process (PSS)", "not told"})
    table.add_column(name, Align::left);
  std::string above;
  for (const auto& fill : document.fills) {
    const auto& share = fill.drafter_share;
    std::string rate = shown(fill.prefill_tokens_per_s, plain_unit, true, notes);
    for (const auto& failure : fill.failures) rate += " " + notes.mark(failure);
    table.add_row({{fill.arm == above ? "" : util::printable(fill.arm)},
                   {std::to_string(fill.depth)},
                   {fill.tokens.value ? std::to_string(*fill.tokens.value) : "-"},
                   {rate},
                   {share.value ? fmt::format("{:.0f} %", 100 * *share.value) : "-"},
                   {known_bytes(fill.context_bytes, notes)},
                   {known_bytes(fill.compute_bytes, notes)},
                   {known_bytes(fill.pss_bytes, notes)},
                   {unaccounted_text(fill.unaccounted_bytes, notes)}});
    above = fill.arm;
  }
  return table_heading("Filling the context: each part's prefill, and memory after it", style) +
         table.render(table_indent, style.colour);
}

std::string verify_cost_table(const Document& document, const Style& style) {
  const auto curves = plain_curves(document);
  if (curves.empty()) return "";
  std::set<int> widths;
  double most = 0;
  for (const auto* curve : curves)
    for (const auto& width : curve->widths)
      if (width.width > 1 && width.cost.value) {
        widths.insert(width.width);
        most = std::max(most, *width.cost.value);
      }
  if (widths.empty()) return "";
  TextTable table;
  table.add_column("K", Align::right);
  for (const auto* curve : curves)
    table.add_column(fmt::format("at depth {}", curve->widths.front().depth), Align::left);
  table.add_column("", Align::left);
  for (const int width : widths) {
    std::vector<Cell> row = {{std::to_string(width - 1)}};
    double cost = 0;
    for (const auto* curve : curves) {
      const auto* timed = width_in(*curve, width);
      const bool known = timed != nullptr && timed->cost.value && timed->acceptance_needed.value;
      row.push_back({known ? cost_text(*timed) : "-"});
      if (known) cost = *timed->cost.value;
    }
    row.push_back({bar(cost, most)});
    table.add_row(std::move(row));
  }
  return table_heading(
             "What verifying K draft tokens costs without any drafter, over a plain pass, "
             "and the acceptance that pays for it (bars: the deepest)",
             style) +
         table.render(table_indent, style.colour);
}

}  // namespace paceline::report
