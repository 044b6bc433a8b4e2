#include "report/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/clock.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Quantity;
using document::Tune;
using document::TunedClass;
using document::TunedMeasurement;
using document::TunedWay;
using util::Align;
using util::Cell;
using util::printable;

constexpr std::size_t most_shown = 10;

std::string heading(std::string_view text, const Style& style) {
  return "\n" + util::emphasised(std::string(text), util::Emphasis::heading, style.colour) + "\n";
}

std::string shown(const Quantity& quantity, Unit unit, bool interval) {
  return quantity.value ? with_interval(quantity, unit, interval) : "";
}

Cell arm_cell(const std::string& arm, const document::Known<std::string>& best) {
  return {printable(arm), best.value == arm ? util::Emphasis::good : util::Emphasis::none};
}

std::string class_table(const TunedClass& one, const Style& style) {
  util::TextTable table;
  const bool timed =
      one.fastest.value && std::any_of(one.ways.begin(), one.ways.end(), [](const TunedWay& way) {
        return way.tokens_per_s.value.has_value();
      });
  table.add_column("arm", Align::left);
  for (const char* name : {"guessed", "accepted", "tok/pass"}) table.add_column(name, Align::right);
  for (const char* name : {"x passes/s", "= tok/s", "speed-up"})
    table.add_column(timed ? name : "", Align::left);
  for (const TunedWay& way : one.ways)
    table.add_row({arm_cell(way.arm, one.fastest),
                   {way.guessed.value ? fmt::format("{:.1f} %", 100 * *way.guessed.value) : ""},
                   {shown(way.acceptance, percent, false)},
                   {shown(way.tokens_per_pass, plain_unit, !timed)},
                   {shown(way.passes_per_s, plain_unit, false)},
                   {shown(way.tokens_per_s, plain_unit, true)},
                   {shown(way.speedup, times, true)}});
  return heading(fmt::format("Predicted: {}, {} texts, {} tokens", printable(one.name), one.texts,
                             one.tokens),
                 style) +
         table.render(2, style.colour);
}

/// The drafts that are accepted best need not be the fastest. Whether they surely are not, a map
/// does not test.
std::string acceptance_text(const TunedClass& one, const Style& style) {
  if (!one.fastest.value || !one.most_accepting.value ||
      *one.fastest.value == *one.most_accepting.value)
    return "";
  const auto acceptance = [&](const std::string& arm) {
    for (const TunedWay& way : one.ways)
      if (way.arm == arm && way.acceptance.value)
        return fmt::format(" ({} accepted)", shown(way.acceptance, percent, false));
    return std::string();
  };
  return wrapped(
      fmt::format("  Predicted acceptance is best with {}{}, predicted speed with {}{}; whether "
                  "these two speeds differ was not tested.",
                  printable(*one.most_accepting.value), acceptance(*one.most_accepting.value),
                  printable(*one.fastest.value), acceptance(*one.fastest.value)),
      2, style.width);
}

/// Nothing where drafting is predicted to pay, or nobody can tell.
std::string plain_text(const Tune& tune, const Style& style) {
  for (const auto& row : tune.total)
    if (row.arm == tune.best.value && row.speedup.value && *row.speedup.value < 1)
      return wrapped("  No length is predicted to pay: plain decoding is faster than all of them.",
                     2, style.width);
  return "";
}

std::string mix_table(const Tune& tune, const Style& style) {
  if (!tune.best.value)
    return wrapped("  No way of drafting is best over the mix (" + printable(tune.mix) +
                       "): " + printable(tune.best.reason) + ".",
                   2, style.width);
  util::TextTable table;
  table.add_column("arm", Align::left);
  table.add_column("PAT tok/s", Align::left);
  table.add_column("speed-up", Align::right);
  for (const auto& row : tune.total)
    table.add_row({arm_cell(row.arm, tune.best),
                   {shown(row.pat_decode, plain_unit, true)},
                   {shown(row.speedup, times, true)}});
  return heading("Predicted: the mix (" + printable(tune.mix) + ")", style) +
         table.render(2, style.colour) + plain_text(tune, style);
}

std::string measured_table(const std::vector<TunedMeasurement>& rows, std::string_view title,
                           const Style& style) {
  if (rows.empty()) return "";
  util::TextTable table;
  for (const char* name : {"arm", "class"}) table.add_column(name, Align::left);
  for (const char* name : {"tok/pass", "tok/s", "speed-up", "predicted"})
    table.add_column(name, Align::left);
  for (const auto& row : rows) {
    if (!row.tokens_per_s.value) continue;
    table.add_row(
        {{printable(row.arm)},
         {row.workload_class.empty() ? "the mix" : printable(row.workload_class)},
         {shown(row.tokens_per_pass, plain_unit, false)},
         {shown(row.tokens_per_s, plain_unit, true)},
         {shown(row.speedup, times, true)},
         {row.predicted_speedup.value ? figure(*row.predicted_speedup.value) + "x" : ""}});
  }
  return heading(title, style) + table.render(2, style.colour);
}

std::string effort_text(const document::TunedEffort& effort, const Style& style) {
  if (!effort.grid_s.value) return "";
  std::string text =
      fmt::format("  texts {}, maps {}, passes timed {}", util::for_people(effort.texts_s),
                  util::for_people(effort.maps_s), util::for_people(effort.timing_s));
  if (effort.confirmation_s.value)
    text += ", confirmation " + util::for_people(*effort.confirmation_s.value);
  text += fmt::format("; runs of every length on the same prompts {} {}",
                      effort.grid_is_measured ? "took" : "would take about",
                      util::for_people(*effort.grid_s.value));
  if (effort.share.value) text += fmt::format(": {:.0f} % of that", 100 * *effort.share.value);
  return heading("What it took", style) + wrapped(text + ".", 2, style.width);
}

std::string check_text(const document::TunedCheck& check, const Style& style) {
  if (check.requests == 0) return "";
  std::string text = wrapped(
      fmt::format("  Of {} requests that passes were timed with, {} made exactly the passes that "
                  "the map says ({} passes in all).",
                  check.requests, check.requests_equal, check.passes),
      2, style.width);
  const std::size_t shown = std::min(most_shown, check.differences.size());
  for (std::size_t i = 0; i < shown; ++i)
    text += wrapped("  differs: " + printable(check.differences[i]), 4, style.width);
  if (shown < check.differences.size())
    text +=
        fmt::format("  and {} more, all in the JSON document\n", check.differences.size() - shown);
  return text;
}

}  // namespace

std::string tune(const Tune& tune, const Style& style) {
  std::string text;
  for (const auto& map : tune.maps) text += wrapped("  " + printable(map), 4, style.width);
  for (const TunedClass& one : tune.classes)
    text += class_table(one, style) + acceptance_text(one, style);
  text += mix_table(tune, style);
  text += measured_table(tune.grid, "Measured: runs of every length on the mapped prompts", style);
  text += measured_table(tune.confirmed, "Confirmed: interleaved runs on fresh prompts", style);
  if (!tune.confirmed.empty())
    text += wrapped("  Only what is confirmed is a result; the rest is predicted.", 2, style.width);
  text += effort_text(tune.effort, style);
  text += check_text(tune.check, style);
  for (const auto& note : tune.notes) text += wrapped("  Note: " + printable(note), 4, style.width);
  return text;
}

}  // namespace paceline::report
