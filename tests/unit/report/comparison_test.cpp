#include "report/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/benchstat.hpp"
#include "report/job_summary.hpp"
#include "report/junit.hpp"
#include "util/printable.hpp"

namespace paceline::report {
namespace {

using document::Comparison;
using document::Document;
using document::known;
using document::not_known;
using document::Quantity;
using ::testing::HasSubstr;
using ::testing::Not;

Quantity ratio(double value, double low, double high) {
  return {value, low, high, "95 % over prompts and launches", "t", 12, ""};
}

/// The seed's merge: +28 % tok/s and no flag had changed.
Comparison merge() {
  Comparison one;
  one.a = "A";
  one.b = "B";
  one.a_says = "--server-bin old";
  one.b_says = "--server-bin new|<er>";
  one.launches = 5;
  one.margin = 0.02;
  one.ratios = {ratio(1.28, 1.21, 1.354), ratio(0.98, 0.97, 0.99), ratio(1.306, 1.25, 1.364)};
  one.again = {ratio(1.01, 0.96, 1.06), ratio(1, 0.99, 1.01), ratio(1.01, 0.98, 1.04)};
  one.again_spread = known(0.05);
  one.verdict = "faster";
  one.because = not_known<std::string>("it is told");
  one.launches_needed = not_known<int>("it is told");
  one.power = known(0.31);
  one.limit = known(document::Limit{0.03, "kept"});
  one.launch_figures = {{"A", 0, 200, known(100.0), known(2.0)},
                        {"A again", 0, 250, not_known<double>("none"), not_known<double>("none")}};
  return one;
}

Document with(std::vector<Comparison> comparisons) {
  Document document;
  document.machine.processor = known(std::string("made up"));
  document.comparisons = std::move(comparisons);
  return document;
}

Comparison undecided(const char* workload_class) {
  Comparison one = merge();
  one.workload_class = workload_class;
  one.verdict = "cannot tell";
  one.because = known(std::string("the interval is wide"));
  one.launches_needed = known(4);
  one.limit.value->verdict = "cannot tell";
  return one;
}

TEST(comparison_report, says_in_one_sentence_what_was_found_and_which_factor_moved) {
  const auto sentence = verdict_sentence(merge());
  EXPECT_THAT(sentence,
              HasSubstr("B (--server-bin new|<er>) is faster than A (--server-bin old): +28.0 % "
                        "[+21.0 % to +35.4 %] tok/s: passes/s -2.0 % [-3.0 % to -1.0 %], "
                        "tokens/pass +30.6 % [+25.0 % to +36.4 %]."));
  EXPECT_THAT(sentence, HasSubstr("31 of 100"));
}

TEST(comparison_report, says_what_it_would_take_where_nothing_is_told) {
  const auto sentence = verdict_sentence(undecided("json"));
  EXPECT_THAT(sentence, HasSubstr("cannot be told yet"));
  EXPECT_THAT(sentence, HasSubstr("Why: the interval is wide."));
  EXPECT_THAT(sentence, HasSubstr("at least 4 more launches"));
}

TEST(comparison_report, is_a_table_with_the_sentence_of_its_first_row) {
  Notes notes;
  const auto text = comparison_table(with({merge(), undecided("json")}), {false, 140}, notes);
  EXPECT_THAT(text, HasSubstr("x1.280 [1.210-1.354]"));
  EXPECT_THAT(text, HasSubstr("all classes"));
  EXPECT_THAT(text, HasSubstr("is faster than A"));
  EXPECT_THAT(text, HasSubstr("no more than 3 % slower than A, and surely is not"));
  EXPECT_EQ(comparison_table(with({}), {false, 140}, notes), "");
}

// The format of https://golang.org/design/14313-benchmark-format; read by benchstat itself once.
TEST(benchstat, is_a_line_a_launch_with_the_figures_that_are_known) {
  EXPECT_EQ(benchstat(with({merge()})),
            "pkg: paceline\n"
            "cpu: made up\n"
            "BenchmarkPaceline/class=all/arm=A 1 5000000.0 ns/op 200.0000 tok/s 100.0000 passes/s "
            "2.0000 tokens/pass\n"
            "BenchmarkPaceline/class=all/arm=A_again 1 4000000.0 ns/op 250.0000 tok/s\n");
}

TEST(job_summary, is_markdown_that_names_cannot_break) {
  const auto text = job_summary(with({merge()}));
  EXPECT_THAT(text, HasSubstr("| all classes | 5 | x1.280"));
  EXPECT_THAT(text, HasSubstr("new\\|&lt;er>"));
  EXPECT_THAT(text, Not(HasSubstr("<er>")));
  EXPECT_EQ(job_summary(with({})), "");
}

TEST(junit, fails_a_broken_limit_and_skips_what_cannot_be_told) {
  Comparison broken = merge();
  broken.workload_class = "a\"<b";
  broken.limit.value->verdict = "broken";
  auto text = junit(with({broken}));
  EXPECT_THAT(text, HasSubstr("tests=\"1\" failures=\"1\" skipped=\"0\""));
  EXPECT_THAT(text, HasSubstr("name=\"a&quot;&lt;b\">\n    <failure"));
  Comparison without = undecided("no limit");
  without.limit = not_known<document::Limit>("none was stated");
  for (const auto& one : {undecided("json"), without}) {
    text = junit(with({one}));
    EXPECT_THAT(text, HasSubstr("failures=\"0\" skipped=\"1\""));
    EXPECT_THAT(text, HasSubstr("name=\"" + *one.workload_class + "\">\n    <skipped"));
  }
}

TEST(junit, judges_the_first_row_alone_as_the_exit_code_does) {
  Comparison broken = merge();
  broken.workload_class = "code";
  broken.limit.value->verdict = "broken";
  const auto text = junit(with({merge(), broken, undecided("json")}));
  EXPECT_THAT(text, HasSubstr("tests=\"3\" failures=\"0\" skipped=\"0\""));
  for (const std::string name : {"all classes", "code", "json"})
    EXPECT_THAT(text, HasSubstr("name=\"" + name + "\">\n    <system-out>"));
  EXPECT_THAT(junit(with({})), HasSubstr("tests=\"0\" failures=\"0\" skipped=\"0\""));
}

}  // namespace
}  // namespace paceline::report
