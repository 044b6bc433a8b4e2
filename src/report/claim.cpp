#include "report/claim.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Claim;
using document::ClaimReading;
using document::ClaimRow;
using util::Align;
using util::printable;

constexpr std::size_t label_width = 14;
constexpr std::size_t most_rows = 30;
constexpr std::size_t most_questions = 6;
constexpr std::size_t longest_text = 120;

std::string cut(const std::string& hostile) {
  const std::string text = printable(std::string_view(hostile).substr(0, 4 * longest_text));
  return text.size() <= longest_text ? text : printable(text.substr(0, longest_text)) + "..";
}

std::string given_text(const document::GivenFigure& given) {
  std::string text = given.name + " " + cut(given.text);
  if (!given.definition.empty()) text += " (" + cut(given.definition) + ")";
  return text;
}

std::string heading_of(const ClaimRow& row) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : row.context) parts.push_back(name + " " + cut(value));
  for (const document::GivenFigure& given : row.given) parts.push_back(given_text(given));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string derived_table(const std::vector<document::DerivedFigure>& derived, bool colour) {
  util::TextTable table;
  table.add_column("follows", Align::left);
  table.add_column("", Align::right);
  table.add_column("by", Align::left);
  for (const document::DerivedFigure& one : derived)
    table.add_row(
        {{one.name}, {document::figure_text(one.value, one.low, one.high)}, {cut(one.rule)}});
  return table.render(label_width, colour);
}

std::string reading_text(const ClaimReading& reading) {
  std::string text = reading.meaning + ":";
  if (reading.tokens_per_pass)
    text += fmt::format(" {} tokens/pass", figure(*reading.tokens_per_pass));
  if (reading.passes_per_s) text += fmt::format(", {} passes/s", figure(*reading.passes_per_s));
  if (reading.pass_cost) text += fmt::format(", pass cost {}", figure(*reading.pass_cost));
  text += reading.consistent ? "; fits" : "; does not fit";
  if (!reading.why.empty()) text += ": " + cut(reading.why);
  return text;
}

std::string row_text(const ClaimRow& row, const Style& style) {
  std::string text =
      labelled("row", cut(row.label) + ": " + heading_of(row), label_width, style.width);
  if (!row.derived.empty()) text += derived_table(row.derived, style.colour);
  for (const document::NotDerived& one : row.not_derived)
    text +=
        labelled("", one.name + " does not follow: " + cut(one.reason), label_width, style.width);
  for (std::size_t i = 0; i < row.readings.size(); ++i)
    text += labelled(i == 0 ? "  could be" : "", reading_text(row.readings[i]), label_width,
                     style.width);
  return text;
}

std::string input_text(const document::ClaimInput& input) {
  std::string text = fmt::format("{}: {} lines, {} of them read, {} skipped", cut(input.name),
                                 input.lines, input.understood, input.skipped);
  std::vector<std::string> formats;
  for (const std::string& one : input.formats) formats.push_back(printable(one));
  if (!formats.empty()) text += "; " + listed(formats);
  return text;
}

std::string placed(const std::string& row, const std::string& says) {
  return (row.empty() ? "" : cut(row) + ": ") + printable(says);
}

std::string missing_text(const document::ClaimFact& fact) {
  std::string text = fmt::format("{}: {} ({}). {}", fact.fact, printable(fact.reason), fact.changes,
                                 fact.question);
  if (!fact.command.empty()) text += " " + fact.command;
  return text;
}

/// The first ones with their question, the others by name.
std::string missing_section(const document::ClaimFacts& facts, const Style& style) {
  std::string text;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < facts.missing.size(); ++i)
    if (i < most_questions)
      text += labelled(i == 0 ? "missing" : "", missing_text(facts.missing[i]), label_width,
                       style.width);
    else
      others.push_back(facts.missing[i].fact + " " + facts.missing[i].name);
  if (!others.empty()) text += labelled("", "and " + listed(others), label_width, style.width);
  return text.empty() ? "" : "\n" + text;
}

template <class List, class Text>
std::string section(const char* label, const List& list, const Style& style, Text text_of) {
  std::string text;
  for (const auto& one : list)
    text += labelled(text.empty() ? label : "", text_of(one), label_width, style.width);
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string claim_verdict(const document::ClaimFacts& facts) {
  const std::size_t applicable = facts.known.size() + facts.missing.size();
  if (facts.missing.empty()) return facts.verdict;
  return fmt::format("{}: {} of {} facts {} missing", facts.verdict, facts.missing.size(),
                     applicable, facts.missing.size() == 1 ? "is" : "are");
}

std::string claim(const Claim& claim, const Style& style) {
  std::string text = labelled("verdict", claim_verdict(claim.facts), label_width, style.width);
  for (const auto& input : claim.inputs)
    text += labelled("input", input_text(input), label_width, style.width);
  for (std::size_t i = 0; i < std::min(claim.rows.size(), most_rows); ++i)
    text += "\n" + row_text(claim.rows[i], style);
  if (claim.rows.size() > most_rows)
    text += labelled(
        "",
        fmt::format("and {} more rows, in the document (--json)", claim.rows.size() - most_rows),
        label_width, style.width);
  if (!claim.across.empty()) text += "\n" + derived_table(claim.across, style.colour);
  text += section("contradicts", claim.contradictions, style,
                  [](const auto& one) { return placed(one.row, one.says); });
  text += section("note", claim.remarks, style,
                  [](const auto& one) { return placed(one.row, one.says); });
  return text + missing_section(claim.facts, style);
}

}  // namespace paceline::report
