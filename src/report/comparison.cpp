#include "report/comparison.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/fitted.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Comparison;
using document::Document;
using document::Quantity;
using util::Align;
using util::TextTable;

std::string change(double ratio) {
  const double tenths = std::round(1000 * (ratio - 1));
  return fmt::format("{:+.1f} %", tenths == 0 ? 0.0 : tenths / 10);
}

std::string change_of(const Quantity& ratio) {
  if (!ratio.value) return "unknown";
  std::string text = change(*ratio.value);
  if (ratio.low && ratio.high && *ratio.low < *ratio.high)
    text += fmt::format(" [{} to {}]", change(*ratio.low), change(*ratio.high));
  return text;
}

std::string side(const std::string& name, const std::string& says) {
  const std::string plain = util::printable(name);
  return says.empty() ? plain : plain + " (" + util::printable(says) + ")";
}

std::string class_of(const Comparison& comparison) {
  return comparison.workload_class ? util::printable(*comparison.workload_class) : "all classes";
}

std::string found(const Comparison& comparison) {
  const std::string a = side(comparison.a, comparison.a_says);
  const std::string b = side(comparison.b, comparison.b_says);
  if (comparison.verdict == "faster" || comparison.verdict == "slower")
    return fmt::format("{} is {} than {}", b, comparison.verdict, a);
  if (comparison.verdict == "same")
    return fmt::format("{} is as fast as {} within +-{:g} %", b, a, 100 * comparison.margin);
  if (comparison.verdict == "unpaired") return fmt::format("{} beside {}, unpaired", b, a);
  return fmt::format("Whether {} is faster than {} cannot be told yet", b, a);
}

std::string more(const Comparison& comparison) {
  std::string text;
  if (comparison.because.value) text += " Why: " + util::printable(*comparison.because.value) + ".";
  if (comparison.launches_needed.value)
    text += fmt::format(
        " It would take at least {} more launches of each (a difference of {:g} % or the one seen, "
        "told "
        "4 times in 5).",
        *comparison.launches_needed.value, 100 * comparison.margin);
  else if (comparison.verdict == "cannot tell")
    text += " More launches: " + util::printable(comparison.launches_needed.reason) + ".";
  if (comparison.power.value)
    text += fmt::format(" A true difference of {:g} % would be told in {:.0f} of 100 such studies.",
                        100 * comparison.margin, 100 * *comparison.power.value);
  return text;
}

TextTable table_of(const Document& document, Level level, Notes& notes) {
  TextTable table;
  for (const char* name :
       {"class", "launches", "tok/s B/A", "= passes/s", "x tok/pass", "A again/A", "verdict"})
    table.add_column(name, Align::left);
  for (const Comparison& one : document.comparisons)
    table.add_row({{class_of(one)},
                   {fmt::format("{}", one.launches)},
                   {ratio_text(one.ratios.tokens_per_s, true, notes)},
                   {ratio_text(one.ratios.passes_per_s, level < 2, notes)},
                   {ratio_text(one.ratios.tokens_per_pass, level < 2, notes)},
                   {ratio_text(one.again.tokens_per_s, level < 1, notes)},
                   {one.verdict}});
  return table;
}

}  // namespace

std::string ratio_text(const Quantity& ratio, bool interval, Notes& notes) {
  if (!ratio.value) return "- " + notes.mark(ratio.reason);
  std::string text = fmt::format("x{:.3f}", *ratio.value);
  if (!ratio.low || !ratio.high) return text + " " + notes.mark(ratio.reason);
  if (interval && *ratio.low < *ratio.high)
    text += fmt::format(" [{:.3f}-{:.3f}]", *ratio.low, *ratio.high);
  return text;
}

std::string verdict_sentence(const Comparison& comparison) {
  return fmt::format("{}: {} tok/s: passes/s {}, tokens/pass {}.{}", found(comparison),
                     change_of(comparison.ratios.tokens_per_s),
                     change_of(comparison.ratios.passes_per_s),
                     change_of(comparison.ratios.tokens_per_pass), more(comparison));
}

std::string limit_sentence(const Comparison& comparison) {
  if (!comparison.limit.value) return "";
  const auto& limit = *comparison.limit.value;
  const char* says = limit.verdict == "broken" ? "surely is slower by more"
                     : limit.verdict == "kept" ? "surely is not"
                                               : "may be, which cannot be told yet";
  return fmt::format("B was to be no more than {:g} % slower than A, and {}.",
                     100 * limit.slower_by, says);
}

std::string comparison_table(const Document& document, const Style& style, Notes& notes) {
  if (document.comparisons.empty()) return "";
  const Comparison& first = document.comparisons.front();
  std::string text = fitted(2, style, notes, [&](Level level, Notes& attempt) {
    return std::vector{
        std::pair{side(first.b, first.b_says) + " over " + side(first.a, first.a_says),
                  table_of(document, level, attempt)}};
  });
  text += wrapped(" " + verdict_sentence(first), 1, style.width);
  if (const auto limit = limit_sentence(first); !limit.empty())
    text += wrapped(" " + limit, 1, style.width);
  return text;
}

}  // namespace paceline::report
