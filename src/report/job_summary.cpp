#include "report/job_summary.hpp"

#include <fmt/format.h>

#include "report/comparison.hpp"
#include "util/printable.hpp"

namespace paceline::report {

namespace {

/// What Markdown or HTML would take for its own is shown as it is.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : util::printable(text)) {
    if (std::string_view("\\`*_{}[]()#|~!").find(letter) != std::string_view::npos) result += '\\';
    if (letter == '<')
      result += "&lt;";
    else if (letter == '&')
      result += "&amp;";
    else
      result += letter;
  }
  return result;
}

std::string row(const document::Comparison& one, Notes& notes) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                     escaped(one.workload_class.value_or("all classes")), one.launches,
                     escaped(ratio_text(one.ratios.tokens_per_s, true, notes)),
                     escaped(ratio_text(one.ratios.passes_per_s, true, notes)),
                     escaped(ratio_text(one.ratios.tokens_per_pass, true, notes)),
                     escaped(ratio_text(one.again.tokens_per_s, true, notes)), one.verdict);
}

}  // namespace

std::string job_summary(const document::Document& document) {
  if (document.comparisons.empty()) return "";
  const auto& first = document.comparisons.front();
  std::string text = "### Paceline: B beside A\n\n" + escaped(verdict_sentence(first)) + "\n\n";
  if (const auto limit = limit_sentence(first); !limit.empty())
    text += "**" + escaped(limit) + "**\n\n";
  text +=
      "| class | launches | tok/s B/A | = passes/s | x tok/pass | A again/A | verdict |\n"
      "|---|---|---|---|---|---|---|\n";
  Notes notes;
  for (const auto& one : document.comparisons) text += row(one, notes);
  for (std::size_t i = 0; i < notes.reasons().size(); ++i)
    text += fmt::format("\n{}. {}", i + 1, escaped(notes.reasons()[i]));
  return text + "\n";
}

}  // namespace paceline::report
