#include "report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "report/fitted.hpp"
#include "report/format.hpp"
#include "report/width_step.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Arm;
using document::Document;
using document::Quantity;
using document::Workload;
using util::Align;
using util::Cell;
using util::Emphasis;
using util::TextTable;

/// Green where the whole interval is a gain, red where the whole interval is a loss.
Emphasis emphasis_of(const Quantity& speedup) {
  if (speedup.low && *speedup.low > 1) return Emphasis::good;
  if (speedup.high && *speedup.high < 1) return Emphasis::bad;
  return Emphasis::none;
}

/// Classes in the order in which arms have them.
std::vector<std::string> classes_of(const Document& document) {
  std::vector<std::string> classes;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads)
      if (std::find(classes.begin(), classes.end(), workload.workload_class) == classes.end())
        classes.push_back(workload.workload_class);
  return classes;
}

const Workload* workload_of(const Arm& arm, const std::string& workload_class) {
  for (const Workload& workload : arm.workloads)
    if (workload.workload_class == workload_class) return &workload;
  return nullptr;
}

std::string class_heading(const Document& document, const std::string& workload_class) {
  for (const Arm& arm : document.arms)
    if (const Workload* workload = workload_of(arm, workload_class)) {
      std::string text = fmt::format(
          "{}  {} prompt{}{} x {} launch{}, n_eff {:.1f}", util::printable(workload_class),
          workload->prompts, workload->prompts == 1 ? "" : "s",
          workload->families < workload->prompts
              ? fmt::format(" in {} families", workload->families)
              : "",
          workload->launches, workload->launches == 1 ? "" : "es", workload->n_eff);
      if (workload->prompts_excluded > 0)
        text += fmt::format(", {} prompts left out", workload->prompts_excluded);
      return text;
    }
  return util::printable(workload_class);
}

std::string repeats_of(const Workload& workload, Notes& notes) {
  const auto& share = workload.repeated_8gram_share;
  if (!share.value) return "- " + notes.mark(share.reason);
  return fmt::format("{:.0f} %{}", 100 * *share.value,
                     workload.looping.value.value_or(false) ? " loops" : "");
}

/// A class's columns: all in one table, or two narrower tables that keep every interval.
enum class Columns { all, rates, comparison };

std::vector<Cell> class_row(const Arm& arm, const Workload& workload, Columns columns,
                            bool intervals, Notes& notes) {
  const auto& decode = workload.decode;
  std::vector<Cell> cells = {{util::printable(arm.name)}};
  if (columns != Columns::comparison)
    for (const Quantity* rate :
         {&decode.tokens_per_s, &decode.passes_per_s, &decode.tokens_per_pass})
      cells.push_back({shown(*rate, plain_unit, intervals, notes)});
  if (columns == Columns::rates) return cells;
  if (speculates(arm)) {
    cells.push_back({shown(decode.speedup, times, intervals, notes), emphasis_of(decode.speedup)});
    for (const Quantity* cost : {&decode.pass_cost, &decode.pass_cost_from_widths})
      cells.push_back({shown(*cost, plain_unit, intervals, notes)});
  } else {
    cells.insert(cells.end(), 3, Cell{});
  }
  cells.push_back({repeats_of(workload, notes)});
  return cells;
}

TextTable class_table(const Document& document, const std::string& workload_class, Columns columns,
                      bool intervals, Notes& notes) {
  TextTable table;
  table.add_column("arm", Align::left);
  if (columns != Columns::comparison)
    for (const char* name : {"tok/s", "= passes/s", "x tok/pass"})
      table.add_column(name, Align::left);
  if (columns != Columns::rates)
    for (const char* name : {"speed-up", "pass cost", "(alone)", "repeats"})
      table.add_column(name, Align::left);
  for (const Arm& arm : document.arms)
    if (const Workload* workload = workload_of(arm, workload_class))
      table.add_row(class_row(arm, *workload, columns, intervals, notes));
  return table;
}

std::string counted(const document::Known<long>& count, Notes& notes) {
  return count.value ? std::to_string(*count.value) : "- " + notes.mark(count.reason);
}

std::vector<Cell> draft_row(const std::string& workload_class, const Arm& arm,
                            const Workload& workload, Level level, Notes& notes) {
  const auto& acceptance = workload.acceptance;
  const auto& length = acceptance.acceptance_length;
  return {{workload_class},
          {util::printable(arm.name)},
          {shown(acceptance.rate, percent, level < 3, notes)},
          {counted(acceptance.accepted, notes) + " of " + counted(acceptance.offered, notes)},
          {shown(acceptance.fire_rate, percent, level < 1, notes)},
          {shown(acceptance.draft_per_pass, plain_unit, level < 2, notes)},
          {length.value ? figure(*length.value) : "- " + notes.mark(length.reason)}};
}

TextTable drafts(const Document& document, Level level, Notes& notes) {
  TextTable table;
  for (const char* name :
       {"class", "arm", "accepted", "tokens", "fire rate", "draft/pass", "acc. length"})
    table.add_column(name, Align::left);
  for (const auto& workload_class : classes_of(document)) {
    std::string name = util::printable(workload_class);
    for (const Arm& arm : document.arms) {
      const Workload* workload = workload_of(arm, workload_class);
      if (workload == nullptr || !speculates(arm)) continue;
      table.add_row(draft_row(std::exchange(name, ""), arm, *workload, level, notes));
    }
  }
  return table;
}

/// The longest draft of any arm, as far as a table has room.
std::size_t shown_positions(const Document& document) {
  constexpr std::size_t most = 8;
  std::size_t longest = 0;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads)
      longest = std::max(longest, workload.acceptance.positions.size());
  return std::min(longest, most);
}

std::string position_cell(const document::Position& position, Notes& notes) {
  const auto& share = position.of_offered;
  if (!share.value) return "- " + notes.mark(share.reason);
  return fmt::format("{:.0f} %", 100 * *share.value);
}

std::vector<Cell> position_row(const Workload& workload, std::size_t count, Notes& notes) {
  std::vector<Cell> cells;
  for (const auto& position : workload.acceptance.positions)
    if (cells.size() < count) cells.push_back({position_cell(position, notes)});
  cells.resize(count);
  return cells;
}

std::string mix_heading(const Document& document) {
  const document::Mix& mix = document.mix;
  std::vector<std::string> shares;
  std::vector<std::string> lengths;
  for (const auto& [workload_class, share] : mix.shares)
    shares.push_back(fmt::format("{} {:.3g} %", util::printable(workload_class), 100 * share));
  for (const auto& [workload_class, tokens] : mix.tokens_per_request)
    lengths.push_back(tokens.value ? fmt::format("{:g}", *tokens.value) : "unknown");
  if (std::equal(lengths.begin() + 1, lengths.end(), lengths.begin())) lengths.resize(1);
  return fmt::format("Mix \"{}\" of {}, {} tokens a request: PAT, tok/s", util::printable(mix.name),
                     listed(shares), listed(lengths));
}

std::string found_or(const std::map<std::string, Quantity>& by_arm, const std::string& arm,
                     Notes& notes) {
  const auto found = by_arm.find(arm);
  return found == by_arm.end() ? "" : shown(found->second, plain_unit, true, notes);
}

std::string prefill_cell(const Workload& workload, Notes& notes) {
  return shown(workload.prefill.prefill_tokens_per_s, plain_unit, false, notes) + " / " +
         shown(workload.prefill.ttft_s, milliseconds, false, notes) +
         (workload.prefill.ttft_s.value ? " ms" : "");
}

std::string width_cell(const document::WidthCurve& curve, std::size_t index, bool interval,
                       Notes& notes) {
  const document::Width& width = curve.widths[index];
  std::string text = shown(width.verify_s, milliseconds, interval, notes);
  if (width.step.value) text += fmt::format("  x{}", figure(*width.step.value));
  if (is_slow_step(curve, index)) text += " slow";
  return text;
}

/// Those at the smallest depth; what plain's are at the others, verify_cost_table shows.
std::vector<document::WidthCurve> shallow_curves(const Document& document) {
  std::vector<document::WidthCurve> curves;
  for (const auto& curve : document.width_curves)
    if (curve.filled_tokens == document.width_curves.front().filled_tokens) curves.push_back(curve);
  return curves;
}

std::set<int> widths_of(const std::vector<document::WidthCurve>& curves) {
  std::set<int> widths;
  for (const auto& curve : curves)
    for (const auto& width : curve.widths) widths.insert(width.width);
  return widths;
}

TextTable widths(const std::vector<document::WidthCurve>& curves, bool interval, Notes& notes) {
  TextTable table;
  table.add_column("width", Align::right);
  for (const auto& curve : curves) table.add_column(util::printable(curve.arm), Align::left);
  for (const int width : widths_of(curves)) {
    std::vector<Cell> cells = {{std::to_string(width)}};
    for (const auto& curve : curves) {
      cells.emplace_back();
      for (std::size_t index = 0; index < curve.widths.size(); ++index)
        if (curve.widths[index].width == width)
          cells.back().text = width_cell(curve, index, interval, notes);
    }
    table.add_row(std::move(cells));
  }
  return table;
}

std::string width_heading(const std::vector<document::WidthCurve>& curves) {
  std::set<int> depths;
  for (const auto& curve : curves)
    for (const auto& width : curve.widths) depths.insert(width.depth);
  std::vector<std::string> names;
  names.reserve(depths.size());
  for (const int depth : depths) names.push_back(std::to_string(depth));
  return fmt::format("Passes timed alone, ms by width (x: over the narrower one), at depth {}",
                     listed(names));
}

constexpr const char* phase_names[] = {"draft",  "checkpoint", "verify",   "process",
                                       "sample", "accept",     "rollback", "other",
                                       "synced", "overlap",    "unsynced"};

/// Seconds in the order of phase_names; absent ones are not known.
std::vector<std::optional<double>> seconds_of(const document::Phases& phases) {
  return {phases.draft_s,        phases.checkpoint_s,    phases.verify_s,        phases.process_s,
          phases.sample_s,       phases.accept_s,        phases.rollback_s,      phases.other_s,
          phases.synced_total_s, phases.overlap_s.value, phases.unsynced_total_s};
}

struct PhaseRow {
  std::string workload_class;
  std::string arm;
  std::vector<std::optional<double>> seconds;
};

std::vector<PhaseRow> phase_rows(const Document& document) {
  std::vector<PhaseRow> rows;
  for (const auto& workload_class : classes_of(document))
    for (const Arm& arm : document.arms) {
      const Workload* workload = workload_of(arm, workload_class);
      if (workload != nullptr && workload->phases.value)
        rows.push_back({util::printable(workload_class), util::printable(arm.name),
                        seconds_of(*workload->phases.value)});
    }
  return rows;
}

}  // namespace

std::string class_tables(const Document& document, const Style& style, Notes& notes) {
  enum : Level { one_table, two_tables, no_intervals };
  return fitted(no_intervals, style, notes, [&](Level level, Notes& attempt) {
    std::vector<std::pair<std::string, TextTable>> parts;
    for (const auto& name : classes_of(document)) {
      const auto table = [&](Columns columns) {
        return class_table(document, name, columns, level != no_intervals, attempt);
      };
      parts.emplace_back(class_heading(document, name),
                         table(level == two_tables ? Columns::rates : Columns::all));
      if (level == two_tables) parts.emplace_back("", table(Columns::comparison));
    }
    return parts;
  });
}

std::string draft_table(const Document& document, const Style& style, Notes& notes) {
  if (std::none_of(document.arms.begin(), document.arms.end(), document::speculates)) return "";
  return fitted(3, style, notes, [&](Level level, Notes& attempt) {
    return std::vector{std::pair{std::string("Drafts: accepted of offered, how often, how far (the "
                                             "end of an output cuts drafts short)"),
                                 drafts(document, level, attempt)}};
  });
}

std::string position_table(const Document& document, const Style& style, Notes& notes) {
  const std::size_t count = shown_positions(document);
  if (count == 0) return "";
  TextTable table;
  for (const char* name : {"class", "arm"}) table.add_column(name, Align::left);
  for (std::size_t position = 1; position <= count; ++position)
    table.add_column(std::to_string(position), Align::right);
  for (const auto& workload_class : classes_of(document)) {
    std::string name = util::printable(workload_class);
    for (const Arm& arm : document.arms) {
      const Workload* workload = workload_of(arm, workload_class);
      if (workload == nullptr || !speculates(arm)) continue;
      std::vector<Cell> cells = {{std::exchange(name, "")}, {util::printable(arm.name)}};
      for (auto& cell : position_row(*workload, count, notes)) cells.push_back(std::move(cell));
      table.add_row(std::move(cells));
    }
  }
  return table_heading("Accepted at each position of a draft, of those offered there", style) +
         table.render(table_indent, style.colour);
}

std::string mix_table(const Document& document, const Style& style, Notes& notes) {
  if (document.mix.shares.empty()) return "";
  TextTable table;
  for (const char* name : {"arm", "decode", "end to end"}) table.add_column(name, Align::left);
  for (const Arm& arm : document.arms)
    table.add_row({{util::printable(arm.name)},
                   {found_or(document.mix.pat_decode, arm.name, notes)},
                   {found_or(document.mix.pat_end_to_end, arm.name, notes)}});
  return table_heading(mix_heading(document), style) + table.render(table_indent, style.colour);
}

std::string prefill_table(const Document& document, const Style& style, Notes& notes) {
  TextTable table;
  table.add_column("arm", Align::left);
  const auto classes = classes_of(document);
  if (classes.empty()) return "";
  for (const auto& workload_class : classes)
    table.add_column(util::printable(workload_class), Align::left);
  for (const Arm& arm : document.arms) {
    std::vector<Cell> cells = {{util::printable(arm.name)}};
    for (const auto& workload_class : classes) {
      const Workload* workload = workload_of(arm, workload_class);
      cells.push_back({workload == nullptr ? "" : prefill_cell(*workload, notes)});
    }
    table.add_row(std::move(cells));
  }
  return table_heading("Prefill: prompt tok/s / time to first token", style) +
         table.render(table_indent, style.colour);
}

std::string width_table(const Document& document, const Style& style, Notes& notes) {
  if (document.width_curves.empty()) return "";
  const auto curves = shallow_curves(document);
  return fitted(1, style, notes, [&](Level level, Notes& attempt) {
    return std::vector{std::pair{width_heading(curves), widths(curves, level < 1, attempt)}};
  });
}

std::string phase_table(const Document& document, const Style& style) {
  const auto rows = phase_rows(document);
  if (rows.empty()) return "";
  TextTable table;
  for (const char* name : {"class", "arm"}) table.add_column(name, Align::left);
  std::vector<std::vector<Cell>> cells;
  for (const auto& row : rows) cells.push_back({{row.workload_class}, {row.arm}});
  for (std::size_t phase = 0; phase < std::size(phase_names); ++phase) {
    // A phase that no arm spends a microsecond in is no column.
    const auto takes_time = [phase](const PhaseRow& row) {
      return row.seconds[phase] && std::abs(*row.seconds[phase]) >= 1e-6;
    };
    if (std::none_of(rows.begin(), rows.end(), takes_time)) continue;
    table.add_column(phase_names[phase], Align::right);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& seconds = rows[i].seconds[phase];
      cells[i].push_back({seconds ? figure(1000 * *seconds) : "-"});
    }
  }
  for (auto& row : cells) table.add_row(std::move(row));
  return table_heading(
             "Phases, ms per pass of one synced launch an arm, no intervals (synced - overlap = "
             "unsynced, the headline's pass)",
             style) +
         table.render(table_indent, style.colour);
}

}  // namespace paceline::report
