#include "metrics/break_even.hpp"

#include <gtest/gtest.h>

namespace paceline::metrics {
namespace {

WidthCurve curve(const std::vector<std::pair<int, double>>& seconds) {
  WidthCurve curve;
  for (const auto& [width, time] : seconds) {
    WidthCost cost;
    cost.width = width;
    cost.verify_s.value = time;
    curve.widths.push_back(cost);
  }
  return curve;
}

TEST(break_even, a_draft_costs_what_its_pass_takes_over_a_plain_one) {
  const auto plain = curve({{1, 0.010}, {2, 0.011}, {5, 0.020}});
  EXPECT_NEAR(*verify_cost(plain, 1), 1.1, 1e-12);
  EXPECT_NEAR(*verify_cost(plain, 4), 2, 1e-12);
  EXPECT_EQ(*verify_cost(plain, 0), 1);
  EXPECT_FALSE(verify_cost(plain, 2));
  EXPECT_NEAR(*acceptance_needed(plain, 4), 0.25, 1e-12);  // 1 + 4 x 0.25 = 2
  EXPECT_FALSE(acceptance_needed(plain, 0));
  EXPECT_FALSE(acceptance_needed(plain, 2));
  EXPECT_FALSE(verify_cost(curve({{2, 0.011}}), 1));
}

TEST(break_even, is_the_longest_draft_that_costs_no_more_than_it_brings) {
  const auto plain = curve({{1, 1}, {2, 1.1}, {3, 1.3}, {4, 1.8}, {5, 2.6}});
  EXPECT_EQ(break_even(plain, 1.5)->draft_length, 2);
  EXPECT_FALSE(break_even(plain, 1.5)->is_lower_bound);
  EXPECT_EQ(break_even(plain, 1.05)->draft_length, 0);
  EXPECT_EQ(break_even(plain, 1.8)->draft_length, 3);
  EXPECT_EQ(break_even(plain, 4)->draft_length, 4);
  EXPECT_TRUE(break_even(plain, 4)->is_lower_bound);
  EXPECT_FALSE(break_even(curve({{1, 1}}), 2));
}

// A wide pass can be cheaper than a narrower one: kernels change with the width.
TEST(break_even, looks_past_a_slow_step) {
  const auto plain = curve({{1, 1}, {2, 1.9}, {3, 1.4}});
  EXPECT_EQ(break_even(plain, 1.5)->draft_length, 2);
}

}  // namespace
}  // namespace paceline::metrics
