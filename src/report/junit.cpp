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

std::string test_case(const Comparison& one) {
  const std::string says = escaped(verdict_sentence(one) + " " + limit_sentence(one));
  std::string text = fmt::format("  <testcase classname=\"paceline.compare\" name=\"{}\">\n",
                                 escaped(one.workload_class.value_or("all classes")));
  if (fails(one))
    text += fmt::format("    <failure message=\"{}\"/>\n", says);
  else if (is_skipped(one))
    text += fmt::format("    <skipped message=\"{}\"/>\n", says);
  else
    text += fmt::format("    <system-out>{}</system-out>\n", says);
  return text + "  </testcase>\n";
}

}  // namespace

std::string junit(const document::Document& document) {
  int failures = 0;
  int skipped = 0;
  std::string cases;
  for (const auto& one : document.comparisons) {
    failures += fails(one) ? 1 : 0;
    skipped += is_skipped(one) ? 1 : 0;
    cases += test_case(one);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"paceline compare\" "
      "tests=\"{}\" "
      "failures=\"{}\" skipped=\"{}\">\n{}</testsuite>\n",
      document.comparisons.size(), failures, skipped, cases);
}

}  // namespace paceline::report
