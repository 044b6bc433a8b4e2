#include "report/junit.hpp"

#include <fmt/format.h>

#include "report/comparison.hpp"
#include "util/printable.hpp"

namespace paceline::report {

namespace {

using document::Comparison;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : util::printable(text)) {
    switch (letter) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += letter;
    }
  }
  return result;
}

bool fails(const Comparison& one) {
  return one.limit.value && one.limit.value->verdict == "broken";
}

bool is_skipped(const Comparison& one) {
  const std::string& verdict = one.limit.value ? one.limit.value->verdict : one.verdict;
  return verdict != "kept" && verdict != "broken" && verdict != "faster" && verdict != "slower" &&
         verdict != "same";
}

/// The verdict is that of the first row, as the exit code is; the others are told and judge
/// nothing.
std::string test_case(const Comparison& one, bool is_verdict) {
  const std::string says = escaped(verdict_sentence(one) + " " + limit_sentence(one));
  std::string text = fmt::format("  <testcase classname=\"paceline.compare\" name=\"{}\">\n",
                                 escaped(one.workload_class.value_or("all classes")));
  if (is_verdict && fails(one))
    text += fmt::format("    <failure message=\"{}\"/>\n", says);
  else if (is_verdict && is_skipped(one))
    text += fmt::format("    <skipped message=\"{}\"/>\n", says);
  else
    text += fmt::format("    <system-out>{}</system-out>\n", says);
  return text + "  </testcase>\n";
}

}  // namespace

std::string junit(const document::Document& document) {
  const auto& rows = document.comparisons;
  std::string cases;
  for (const auto& one : rows) cases += test_case(one, &one == &rows.front());
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"paceline compare\" "
      "tests=\"{}\" "
      "failures=\"{}\" skipped=\"{}\">\n{}</testsuite>\n",
      rows.size(), !rows.empty() && fails(rows.front()) ? 1 : 0,
      !rows.empty() && is_skipped(rows.front()) ? 1 : 0, cases);
}

}  // namespace paceline::report
