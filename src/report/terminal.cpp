#include "report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "document/json.hpp"
#include "report/ceiling.hpp"
#include "report/comparison.hpp"
#include "report/depth.hpp"
#include "report/format.hpp"
#include "report/header.hpp"
#include "report/load.hpp"
#include "report/losslessness.hpp"
#include "report/notes.hpp"
#include "report/passes.hpp"
#include "report/prices.hpp"
#include "report/sweep.hpp"
#include "report/tables.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Arm;
using document::Document;
using document::Workload;

std::string heading(const std::string& text, const Style& style) {
  return "\n" + util::emphasised(text, util::Emphasis::heading, style.colour) + "\n";
}

/// What the intervals cover: one sentence, as they do not all have to cover the same.
std::string legend(const Document& document, const Style& style) {
  std::set<std::string> levels;
  for (const Arm& arm : document.arms)
    for (const Workload& workload : arm.workloads)
      if (const auto& rate = workload.decode.tokens_per_s; rate.low && !rate.level.empty())
        levels.insert(util::printable(rate.level));
  std::string text =
      "tok/s = passes/s x tok/pass; speed-up = tok/pass / pass cost (alone: the cost again, from "
      "passes timed apart from any text and without sampling); repeats: share of repeated 8-grams";
  if (!levels.empty())
    text += "; intervals: " + listed(std::vector<std::string>(levels.begin(), levels.end()));
  return "\n" + wrapped(text, 0, style.width);
}

std::string notes_text(const Notes& notes, const Style& style) {
  if (notes.reasons().empty()) return "";
  std::string text = "\n";
  int number = 0;
  for (const auto& reason : notes.reasons())
    text += wrapped(fmt::format("({}) {}", ++number, util::printable(reason)), 4, style.width);
  return text;
}

std::string warnings_text(const Document& document, const Style& style) {
  if (document.warnings.empty()) return "";
  std::string text = heading("Warnings", style);
  for (const auto& warning : document.warnings)
    text += wrapped(fmt::format("  {}: {}. Next: {}.", document::warning_name(warning.kind),
                                util::printable(warning.text), warning.next_step),
                    4, style.width);
  return text;
}

std::string failure_text(const document::Failure& failure, const Style& style) {
  std::string line = fmt::format("  {}, round {}", util::printable(failure.arm), failure.round + 1);
  line += failure.prompt ? ", prompt " + util::printable(*failure.prompt) : std::string(", launch");
  line += ": " + util::printable(failure.kind);
  if (!failure.reason.empty()) line += ", " + util::printable(failure.reason);
  if (failure.signal) line += fmt::format(", signal {}", *failure.signal);
  if (failure.exit_code) line += fmt::format(", exit code {}", *failure.exit_code);
  std::string text = wrapped(line, 4, style.width);
  for (const auto& log_line : failure.log_tail)
    text += wrapped("    | " + util::printable(log_line), 6, style.width);
  return text;
}

std::string outcomes_text(const Document& document, const Style& style) {
  constexpr std::size_t most_shown = 10;
  if (document.outcomes.empty()) return "";
  std::string text = heading("Failures", style);
  const std::size_t shown = std::min(most_shown, document.outcomes.size());
  for (std::size_t index = 0; index < shown; ++index)
    text += failure_text(document.outcomes[index], style);
  if (shown < document.outcomes.size())
    text +=
        fmt::format("  and {} more, all in the JSON document\n", document.outcomes.size() - shown);
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string facts_text(const Document& document, const Style& style) {
  const auto& facts = document.facts;
  std::string text = heading("Facts", style);
  text += wrapped("  known    " + joined(facts.known), 11, style.width);
  for (const auto& missing : facts.missing)
    text += wrapped(fmt::format("  missing  {} {}", missing.fact, util::printable(missing.reason)),
                    11, style.width);
  for (const auto& other : facts.not_applicable)
    text += wrapped(fmt::format("  n/a      {} {}", other.fact, util::printable(other.reason)), 11,
                    style.width);
  return text + "  verdict  " +
         util::emphasised(facts.verdict, util::Emphasis::heading, style.colour) + "\n";
}

/// What every arm did, class by class.
std::string arm_tables(const Document& document, const Style& style, Notes& notes) {
  std::string text = legend(document, style);
  text += comparison_table(document, style, notes);
  text += class_tables(document, style, notes);
  text += ceiling_table(document, style, notes);
  text += depth_table(document, style, notes);
  text += fill_table(document, style, notes);
  text += draft_table(document, style, notes);
  text += drafter_table(document, style, notes);
  text += position_table(document, style, notes);
  text += pass_width_table(document, style);
  text += price_table(document, style, notes);
  text += mix_table(document, style, notes);
  text += prefill_table(document, style, notes);
  text += load_tables(document, style, notes);
  text += width_table(document, style, notes);
  text += verify_cost_table(document, style);
  return text + phase_table(document, style);
}

}  // namespace

std::string terminal(const Document& document, const Style& style) {
  Notes notes;
  std::string text = header_text(document, style);
  // A sweep has too many arms to tell of each: they are in the document.
  text += document.sweep.value ? sweep_tables(document, style, notes)
                               : arm_tables(document, style, notes);
  text += notes_text(notes, style);
  text += lossless_table(document, style);
  text += warnings_text(document, style);
  text += outcomes_text(document, style);
  text += facts_text(document, style);
  if (document.said)
    text += heading("In short", style) +
            wrapped("  " + util::printable(*document.said), 2, style.width);
  return text;
}

}  // namespace paceline::report
