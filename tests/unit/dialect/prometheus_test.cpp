#include "dialect/prometheus.hpp"

#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

Counters parsed(std::string_view text) {
  const auto counters = read_prometheus(text, {"a_total", "b", "at_total"});
  EXPECT_TRUE(counters) << (counters ? "" : counters.error().message);
  return counters.value_or(Counters{});
}

TEST(Prometheus, values_are_read_however_they_are_written) {
  for (const char* line :
       {"a_total 1500", "a_total 1.5e3", "a_total 1.5E+03", "a_total +1500", "a_total\t1500\r",
        "  a_total   1500   1756736798000  ", "a_total{} 1500", "a_total{x=\"1\",} 1500",
        "a_total{ x = \"}\\\" \\\\ \" , y=\"\" } 1500 # {trace_id=\"7\"} 1.0"}) {
    const Counters counters = parsed(line);
    EXPECT_EQ(counter(counters, "a_total"), 1500) << line;
    EXPECT_TRUE(counters.oddities.empty()) << line << joined(counters.oddities);
  }
}

TEST(Prometheus, comments_and_empty_lines_say_nothing) {
  const Counters counters = parsed("# HELP a_total a_total 7\n#\n\n  \n# TYPE a_total counter\n");
  EXPECT_TRUE(counters.values.empty());
  EXPECT_TRUE(counters.oddities.empty());
}

TEST(Prometheus, lines_that_are_no_sample_are_oddities_and_the_rest_is_read) {
  const Counters counters =
      parsed("a_total\na_total{x=\"1\" 2\na_total{x=1} 2\na_total 1x\na_total 1 2 3\n7 8\nb 5\n");
  EXPECT_EQ(counters.oddities.size(), 6u) << joined(counters.oddities);
  EXPECT_FALSE(counter(counters, "a_total"));
  EXPECT_EQ(counter(counters, "b"), 5);
}

TEST(Prometheus, oddities_of_a_hostile_text_are_few_and_short) {
  std::string text = "b 1\n";
  for (int i = 0; i < 5000; ++i) text += std::string(3000, '!') + "\n";
  const Counters counters = parsed(text);
  EXPECT_LE(counters.oddities.size(), 21u);
  for (const auto& oddity : counters.oddities) EXPECT_LE(oddity.size(), 400u);
}

TEST(Prometheus, what_no_counter_can_be_is_not_taken) {
  const Counters counters = parsed("a_total NaN\na_total +Inf\na_total -3\nb 2\nother NaN\n");
  EXPECT_FALSE(counter(counters, "a_total"));
  EXPECT_EQ(counters.oddities.size(), 3u) << joined(counters.oddities);
}

TEST(Prometheus, C118_a_body_that_is_one_json_string_is_unescaped_once) {
  const Counters counters =
      parsed("\"# HELP a_total x\\n# TYPE a_total counter\\na_total 42\\nb{l=\\\"v\\\"} 1\\n\"");
  EXPECT_EQ(counter(counters, "a_total"), 42);
  EXPECT_EQ(counter(counters, "b"), 1);
  EXPECT_TRUE(counters.oddities.empty()) << joined(counters.oddities);
}

TEST(Prometheus, C121_a_json_answer_is_named_as_such) {
  for (const char* text : {"[{\"iter\":60}]", "{\"error\":\"no\"}", "[]"}) {
    const auto counters = read_prometheus(text, {"a_total"});
    ASSERT_FALSE(counters) << text;
    EXPECT_TRUE(holds(counters.error().message, "is JSON, not the text format"));
  }
  const auto html = read_prometheus("<html><body>404</body></html>", {"a_total"});
  ASSERT_FALSE(html);
  EXPECT_TRUE(holds(html.error().message, "not the text format of Prometheus"));
}

TEST(Prometheus, C204_positions_are_kept_apart_and_never_added_to_a_total) {
  // 163 % acceptance came of adding the series by position to the total: 44 + (44 + 28) against 44.
  const Counters counters = parsed(
      "a_total 44\nat_total{position=\"0\"} 28\nat_total{position=\"1\"} 16\n"
      "a_total_by{position=\"0\"} 99\n");
  EXPECT_EQ(counter(counters, "a_total"), 44);
  EXPECT_FALSE(counter(counters, "at_total"));
  EXPECT_EQ(counters.by_position.at("at_total"), (std::vector<double>{28, 16}));
  EXPECT_EQ(counters.by_position.size(), 1u) << "a name that only begins alike is another metric";
}

TEST(Prometheus, positions_that_are_none_are_oddities) {
  const Counters counters = parsed(
      "at_total{position=\"-1\"} 1\nat_total{position=\"99999999999\"} 1\n"
      "at_total{position=\"one\"} 1\nat_total{token_position=\"2\"} 7\n");
  EXPECT_EQ(counters.oddities.size(), 3u);
  EXPECT_EQ(counters.by_position.at("at_total"), (std::vector<double>{0, 0, 7}));
}

TEST(Prometheus, series_of_one_metric_are_summed) {
  const Counters counters = parsed("a_total{engine=\"0\"} 22\na_total{engine=\"1\"} 20\n");
  EXPECT_EQ(counter(counters, "a_total"), 42);
}

}  // namespace
}  // namespace paceline::dialect
