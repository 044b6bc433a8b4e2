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

std::string row(const document::Comparison& one) {
  Notes unused;
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                     escaped(one.workload_class.value_or("all classes")), one.launches,
                     escaped(ratio_text(one.ratios.tokens_per_s, true, unused)),
                     escaped(ratio_text(one.ratios.passes_per_s, true, unused)),
                     escaped(ratio_text(one.ratios.tokens_per_pass, true, unused)),
                     escaped(ratio_text(one.again.tokens_per_s, true, unused)), one.verdict);
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
  for (const auto& one : document.comparisons) text += row(one);
  return text + "\n";
}

}  // namespace paceline::report
