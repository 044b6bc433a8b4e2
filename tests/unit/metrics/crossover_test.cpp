#include "metrics/crossover.hpp"

#include <gtest/gtest.h>

namespace paceline::metrics {
namespace {

/// Tokens per second of an arm over three rounds, beside a plain arm of 10, 20 and 40.
LevelRates level(int level, double first, double second, double third) {
  return {level,
          {{0, 10 * first}, {1, 20 * second}, {2, 40 * third}},
          {{0, 10.0}, {1, 20.0}, {2, 40.0}},
          ""};
}

TEST(Crossover, is_the_lowest_level_that_surely_costs) {
  const auto crossover =
      find_crossover("mtp", {level(1, 2.0, 2.1, 1.9), level(2, 1.2, 1.21, 1.19),
                             level(4, 0.8, 0.81, 0.79), level(8, 0.5, 0.51, 0.49)});
  EXPECT_EQ(crossover.level, 4);
  EXPECT_EQ(crossover.says, "stops paying at 4; pays at 1, 2");
  EXPECT_EQ(crossover.levels[2].verdict, "stops paying");
  // The geometric mean of 0.8, 0.81 and 0.79.
  EXPECT_NEAR(*crossover.levels[2].ratio.value, 0.79996, 1e-5);
}

TEST(Crossover, cannot_be_told_where_the_interval_holds_one) {
  const auto crossover = find_crossover("mtp", {level(1, 2.0, 2.1, 1.9), level(2, 0.9, 1.1, 0.95)});
  EXPECT_FALSE(crossover.level);
  EXPECT_EQ(crossover.says, "pays at 1; cannot tell at 2");
}

TEST(Crossover, cannot_be_told_from_a_gain_that_the_interval_doubts) {
  const auto crossover = find_crossover("mtp", {level(1, 1.3, 0.9, 1.1)});
  EXPECT_GT(*crossover.levels[0].ratio.value, 1);
  EXPECT_EQ(crossover.says, "cannot tell at 1");
}

TEST(Crossover, pays_everywhere_only_where_it_surely_does) {
  EXPECT_EQ(find_crossover("mtp", {level(1, 2, 2.1, 1.9), level(4, 1.5, 1.6, 1.4)}).says,
            "pays at every level measured");
}

TEST(Crossover, of_two_launches_has_a_ratio_and_cannot_tell) {
  const auto crossover =
      find_crossover("mtp", {{4, {{0, 5.0}, {1, 5.0}}, {{0, 10.0}, {1, 10.0}}, ""}});
  EXPECT_NEAR(*crossover.levels[0].ratio.value, 0.5, 1e-12);
  EXPECT_EQ(crossover.levels[0].verdict, "cannot tell");
  EXPECT_NE(crossover.levels[0].ratio.reason.find("2 launches"), std::string::npos);
}

TEST(Crossover, compares_within_rounds_only) {
  const auto crossover = find_crossover("mtp", {{2, {{0, 5.0}}, {{1, 10.0}}, ""}});
  EXPECT_EQ(crossover.levels[0].verdict, "not measured");
  EXPECT_EQ(crossover.levels[0].ratio.reason, "no round measured both this arm and plain");
}

TEST(Crossover, says_where_nothing_was_measured) {
  const auto crossover = find_crossover("mtp", {level(1, 2, 2.1, 1.9), {2, {}, {}, "refused"}});
  EXPECT_EQ(crossover.says, "pays at 1; not measured at 2");
  EXPECT_EQ(crossover.levels[1].ratio.reason, "refused");
}

}  // namespace
}  // namespace paceline::metrics
