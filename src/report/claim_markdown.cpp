#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/claim.hpp"
#include "util/printable.hpp"

namespace paceline::report {

namespace {

using document::Claim;
using document::DerivedFigure;

constexpr std::size_t most_rows = 12;
constexpr std::size_t most_sentences = 8;
constexpr std::size_t most_questions = 6;
constexpr std::size_t longest_text = 60;

/// Text of others as text: nothing of it becomes a table, a link, a mention or HTML.
std::string quoted(const std::string& hostile) {
  std::string text;
  for (const char c : util::printable(std::string_view(hostile).substr(0, 4 * longest_text))) {
    if (std::string_view("\\`*_{}[]<>()#+!|~@&").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string cell(const document::ClaimRow& row, const char* name) {
  for (const DerivedFigure& one : row.derived)
    if (one.name == name) return document::figure_text(one.value, one.low, one.high);
  for (const auto& one : row.given)
    if (one.name == name) return quoted(one.text);
  return "";
}

/// The figures that a reply shows, of the rows that have any of them.
std::string table(const Claim& claim) {
  constexpr std::array columns = {"tokens_per_s", "tokens_per_pass", "passes_per_s",    "speedup",
                                  "pass_cost",    "acceptance",      "offered_per_pass"};
  std::string rows;
  std::size_t shown = 0;
  for (const auto& row : claim.rows) {
    std::string line = "| " + quoted(row.label.substr(0, longest_text)) + " |";
    bool any = false;
    for (const char* const name : columns) {
      const std::string text = cell(row, name);
      any = any || !text.empty();
      line += " " + text + " |";
    }
    if (any && ++shown <= most_rows) rows += line + "\n";
  }
  if (rows.empty()) return "";
  std::string head = "| row |";
  std::string rule = "|---|";
  for (const char* const name : columns) {
    head += fmt::format(" {} |", name);
    rule += "---:|";
  }
  if (shown > most_rows) rows += fmt::format("\nand {} more rows.\n", shown - most_rows);
  return head + "\n" + rule + "\n" + rows + "\n";
}

template <class List>
std::string sentences(const List& list) {
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most_sentences); ++i)
    text += fmt::format("- {}{}\n", list[i].row.empty() ? "" : quoted(list[i].row) + ": ",
                        quoted(list[i].says));
  if (list.size() > most_sentences)
    text += fmt::format("- and {} more\n", list.size() - most_sentences);
  return text;
}

}  // namespace

std::string claim_markdown(const Claim& claim) {
  std::string text =
      "Thank you for the figures. This is what follows from them:\n\n" + table(claim);
  for (const DerivedFigure& one : claim.across)
    text += fmt::format("{} is {} ({}).\n\n", one.name,
                        document::figure_text(one.value, one.low, one.high), quoted(one.rule));
  if (!claim.contradictions.empty())
    text += "Some numbers do not fit each other; could you look at them again?\n\n" +
            sentences(claim.contradictions) + "\n";
  if (!claim.remarks.empty()) text += "Worth knowing:\n\n" + sentences(claim.remarks) + "\n";
  if (claim.facts.missing.empty()) return text + "All facts that make a benchmark are there.\n";
  text += fmt::format("As it stands this is {} {} ({}). What would help most:\n\n",
                      claim.facts.verdict == "incomplete" ? "an incomplete benchmark," : "a",
                      claim.facts.verdict == "incomplete" ? "" : claim.facts.verdict,
                      fmt::format("{} of {} facts are missing", claim.facts.missing.size(),
                                  claim.facts.missing.size() + claim.facts.known.size()));
  for (std::size_t i = 0; i < std::min(claim.facts.missing.size(), most_questions); ++i) {
    const auto& fact = claim.facts.missing[i];
    text += fmt::format("{}. {}{}\n", i + 1, fact.question,
                        fact.command.empty() ? "" : fmt::format(" (`{}`)", fact.command));
  }
  return text;
}

}  // namespace paceline::report
