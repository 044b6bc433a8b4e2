#include "report/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "report/fitted.hpp"
#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Document;
using document::Known;
using document::Quantity;
using document::Sweep;
using document::SweepPoint;
using util::Align;
using util::TextTable;

std::string shown(const Known<double>& value, Unit unit, Notes& notes) {
  return value.value ? figure(unit.scale * *value.value) + unit.suffix
                     : "- " + notes.mark(value.reason);
}

const SweepPoint* point_of(const Sweep& sweep, const std::string& arm) {
  for (const auto& point : sweep.points)
    if (point.arm == arm) return &point;
  return nullptr;
}

/// Fastest first; those without a speed last.
std::vector<SweepPoint> in_order(std::vector<SweepPoint> points) {
  std::stable_sort(
      points.begin(), points.end(), [](const SweepPoint& one, const SweepPoint& other) {
        return one.tokens_per_s.value.value_or(0) > other.tokens_per_s.value.value_or(0);
      });
  return points;
}

bool is_in_set(const Sweep& sweep, const std::string& arm) {
  const auto& set = sweep.best_set.value;
  return set && std::find(set->begin(), set->end(), arm) != set->end();
}

TextTable points_table(const Document& document, Level level, Notes& notes) {
  const Sweep& sweep = *document.sweep.value;
  TextTable table;
  for (const char* name : {"", "point", "launches", "tok/s", "= passes/s", "x tok/pass", "accepted",
                           "speed-up", "over the best other"})
    table.add_column(name, Align::left);
  for (const auto& point : in_order(sweep.points))
    table.add_row({{is_in_set(sweep, point.arm) ? "*" : ""},
                   {util::printable(point.arm)},
                   {std::to_string(point.launches)},
                   {shown(point.tokens_per_s, plain_unit, level < 2, notes)},
                   {shown(point.passes_per_s, plain_unit, notes)},
                   {shown(point.tokens_per_pass, plain_unit, notes)},
                   {shown(point.acceptance, percent, notes)},
                   {shown(point.speedup, times, level < 3, notes)},
                   {shown(point.against_best, times, level < 1, notes)}});
  for (const auto& arm : document.arms)
    if (const auto speed = document.mix.pat_decode.find(arm.name);
        point_of(sweep, arm.name) == nullptr && speed != document.mix.pat_decode.end())
      table.add_row({{""},
                     {util::printable(arm.name)},
                     {std::to_string(arm.launches_done)},
                     {shown(speed->second, plain_unit, level < 2, notes)}});
  return table;
}

/// A table for every group of draft lengths.
std::vector<std::pair<std::string, TextTable>> draft_length_tables(const Sweep& sweep,
                                                                   Notes& notes) {
  std::vector<std::pair<std::string, TextTable>> tables;
  std::string group;
  for (const auto& row : sweep.draft_lengths) {
    const SweepPoint* point = point_of(sweep, row.arm);
    if (point == nullptr) continue;
    if (tables.empty() || row.group != group) {
      TextTable table;
      for (const char* name :
           {"longest draft", "accepted", "draft/pass", "tok/pass", "passes/s", "tok/s", "speed-up"})
        table.add_column(name, Align::left);
      group = row.group;
      tables.emplace_back(
          "Acceptance against throughput" + (group.empty() ? "" : ", " + util::printable(group)),
          std::move(table));
    }
    tables.back().second.add_row({{std::to_string(row.draft_length)},
                                  {shown(point->acceptance, percent, notes)},
                                  {shown(point->draft_per_pass, plain_unit, notes)},
                                  {shown(point->tokens_per_pass, plain_unit, notes)},
                                  {shown(point->passes_per_s, plain_unit, notes)},
                                  {shown(point->tokens_per_s, plain_unit, false, notes)},
                                  {shown(point->speedup, times, false, notes)}});
  }
  return tables;
}

std::string set_text(const Sweep& sweep) {
  if (!sweep.best_set.value)
    return "Which points are not worse than the best cannot be said: " +
           util::printable(sweep.best_set.reason) + ".";
  const auto& set = *sweep.best_set.value;
  if (set.size() == 1)
    return fmt::format("{} is faster than every other point (95 % of all together).",
                       util::printable(set.front()));
  return fmt::format("{} of {} points are not worse than the best, as far as can be told (*): {}.",
                     set.size(), sweep.points.size(),
                     util::printable(fmt::format("{}", fmt::join(set, ", "))));
}

std::string held_out_text(const Sweep& sweep, Notes& notes) {
  if (!sweep.held_out.value)
    return "Quote none of these speeds, by which the winner was chosen. It was not measured "
           "again: " +
           util::printable(sweep.held_out.reason) + ".";
  const auto& held_out = *sweep.held_out.value;
  const auto& most = held_out.speedup.high;
  return fmt::format(
      "To quote: {} on {} prompts that nothing was chosen by, {} launches: {} tok/s = {} passes/s "
      "x "
      "{} tok/pass, speed-up {}.{}",
      util::printable(held_out.arm), held_out.prompts, held_out.launches,
      shown(held_out.tokens_per_s, plain_unit, true, notes),
      shown(held_out.passes_per_s, plain_unit, true, notes),
      shown(held_out.tokens_per_pass, plain_unit, true, notes),
      shown(held_out.speedup, times, true, notes),
      most && *most < 1 ? " Plain decoding with its settings is faster." : "");
}

}  // namespace

std::string sweep_tables(const Document& document, const Style& style, Notes& notes) {
  if (!document.sweep.value) return "";
  const Sweep& sweep = *document.sweep.value;
  std::string text = fitted(3, style, notes, [&](Level level, Notes& attempt) {
    std::vector tables{std::pair{
        std::string("Points, fastest first; intervals hold of all of them together") +
            (document.arms.size() > sweep.points.size() ? ", plain's are ordinary ones" : ""),
        points_table(document, level, attempt)}};
    for (auto& table : draft_length_tables(sweep, attempt)) tables.push_back(std::move(table));
    return tables;
  });
  text += "\n" + wrapped(util::printable(sweep.rule), 0, style.width);
  text += wrapped(set_text(sweep), 0, style.width);
  return text + wrapped(held_out_text(sweep, notes), 0, style.width);
}

}  // namespace paceline::report
