// The golden table of DEFINITIONS 12, row by row.

#include <gtest/gtest.h>

#include "metrics/arithmetic.hpp"

namespace {

using namespace paceline::metrics;

constexpr double to_two_decimals = 0.005;
constexpr double to_one_decimal = 0.05;

TEST(seeds, speed_over_tokens_per_pass_is_passes_per_second) {
  EXPECT_NEAR(passes_per_s(29.3, 3.60), 8.14, to_two_decimals);
  EXPECT_NEAR(passes_per_s(25.5, 2.96), 8.61, to_two_decimals);
  EXPECT_NEAR(passes_per_s(20.2, 3.63), 5.56, to_two_decimals);
  EXPECT_NEAR(passes_per_s(26.6, 1.00), 26.6, to_two_decimals);
}

const std::vector<DraftLengthRow> draft_lengths{
    {4, 0.4746, 34.50}, {8, 0.2700, 40.54}, {12, 0.2033, 42.22}, {15, 0.1799, 47.20}};

TEST(seeds, full_drafts_of_four_lengths_give_tokens_per_pass_and_passes_per_second) {
  const double tokens[] = {2.90, 3.16, 3.44, 3.70};
  const double passes[] = {11.90, 12.83, 12.27, 12.76};
  for (std::size_t i = 0; i < draft_lengths.size(); ++i) {
    const auto& row = draft_lengths[i];
    const double per_pass = full_draft_tokens_per_pass(row.draft_length, row.acceptance);
    EXPECT_NEAR(per_pass, tokens[i], to_two_decimals);
    EXPECT_NEAR(passes_per_s(row.tokens_per_s, per_pass), passes[i], to_two_decimals);
  }
}

TEST(seeds, that_the_shortest_drafts_do_not_make_the_fastest_passes_is_flagged) {
  const auto found = find_pass_order_contradictions(draft_lengths);
  ASSERT_EQ(found.size(), 2u);  // K = 4 under K = 8, and K = 12 under K = 15
  EXPECT_EQ(found[0],
            "passes of draft length 4 (11.90 per second) are slower than those of 8 (12.83 per "
            "second), though narrower: noise, or drafts that were not full");
  EXPECT_NE(found[1].find("draft length 12 (12.27 per second)"), std::string::npos);
}

// Draft 4 won acceptance and draft 15 won speed: 34.50 of 47.20 tokens per second are 26.9 % less.
TEST(seeds, that_the_best_acceptance_is_not_the_best_speed_is_flagged) {
  const auto told = [](std::size_t, std::size_t) { return true; };
  const auto found = find_acceptance_trap(draft_lengths, told);
  ASSERT_TRUE(found);
  EXPECT_EQ(
      *found,
      "acceptance is best at draft length 4 (47.46 %, 34.50 tokens per second) and speed at 15 "
      "(17.99 %, 47.20 tokens per second): choosing by acceptance costs 26.9 %");
  EXPECT_FALSE(find_acceptance_trap({{4, 0.5, 30}, {8, 0.4, 29}}, told));
  EXPECT_FALSE(find_acceptance_trap({{4, 0.5, 30}}, told));
  EXPECT_FALSE(find_acceptance_trap({}, told));
}

// Counted passes stand for themselves, whatever full drafts would make of acceptance.
TEST(seeds, passes_that_were_counted_are_what_is_put_in_order) {
  EXPECT_TRUE(
      find_pass_order_contradictions({{4, 0.4746, 34.50, 13.0}, {8, 0.27, 40.54, 12.0}}).empty());
  EXPECT_EQ(
      find_pass_order_contradictions({{4, 0.4746, 34.50, 12.0}, {8, 0.27, 40.54, 13.0}}).size(),
      1u);
}

TEST(seeds, passes_that_slow_down_as_drafts_grow_are_no_contradiction) {
  EXPECT_TRUE(find_pass_order_contradictions({{4, 0.5, 30}, {8, 0.25, 29}}).empty());
  EXPECT_TRUE(find_pass_order_contradictions({}).empty());
}

struct Acceptance {
  double share, speed, tokens, passes, cost;
};

TEST(seeds, three_acceptances_at_one_draft_length_give_the_cost_of_a_pass) {
  const Acceptance rows[] = {{0.3867, 84.64, 6.80, 12.45, 1.44},
                             {0.3618, 78.29, 6.43, 12.18, 1.48},
                             {0.1441, 38.34, 3.16, 12.13, 1.48}};
  for (const auto& row : rows) {
    const double tokens = full_draft_tokens_per_pass(15, row.share);
    const double passes = passes_per_s(row.speed, tokens);
    EXPECT_NEAR(tokens, row.tokens, to_two_decimals);
    EXPECT_NEAR(passes, row.passes, to_two_decimals);
    EXPECT_NEAR(pass_cost(passes, 17.98), row.cost, to_two_decimals);
  }
}

TEST(seeds, the_gain_of_min_p_is_mostly_tokens_per_pass) {
  const auto ratio = decompose(84.64, full_draft_tokens_per_pass(15, 0.3867), 78.29,
                               full_draft_tokens_per_pass(15, 0.3618));
  EXPECT_NEAR(ratio.speed, 1.081, 0.0005);
  EXPECT_NEAR(ratio.tokens, 1.058, 0.0005);
  EXPECT_NEAR(ratio.passes, 1.022, 0.0005);
}

TEST(seeds, the_contradictions_of_the_article_are_found) {
  EXPECT_NEAR(80.87 / 17.98, 4.50, to_two_decimals);
  EXPECT_NEAR(decompose(84.64, 1, 17.98, 1).speed, 4.71, to_two_decimals);
  EXPECT_EQ(find_speed_contradiction(15, 0.3618, 80.87, 78.29),
            "acceptance 36.18 % stands beside both 80.87 and 78.29 tokens per second (12.58 and "
            "12.18 passes per second)");
  EXPECT_EQ(find_tokens_per_pass_contradiction(15, 0.3618, 6.39),
            "1 + 15 * 0.3618 = 6.43 tokens per pass, not 6.39");
}

TEST(seeds, figures_that_agree_to_their_rounding_are_no_contradiction) {
  EXPECT_FALSE(find_tokens_per_pass_contradiction(15, 0.3618, 6.43));
  EXPECT_TRUE(find_tokens_per_pass_contradiction(15, 0.3618, 6.44));
  EXPECT_FALSE(find_speed_contradiction(15, 0.3618, 78.29, 78.29));
}

TEST(seeds, bytes_over_bandwidth_are_a_ceiling_on_passes) {
  EXPECT_NEAR(weight_bytes(27e9, 4), 13.5e9, 1);
  const double ceiling = bandwidth_ceiling(273e9, 2.6e9);
  EXPECT_NEAR(ceiling, 105, 0.5);
  EXPECT_NEAR(26.6 / ceiling, 0.25, to_two_decimals);
}

TEST(seeds, a_mix_of_two_classes_is_tokens_over_total_time) {
  const auto pat = predictability_adjusted({{0.5, 84.64}, {0.5, 38.34}});
  ASSERT_TRUE(pat);
  EXPECT_NEAR(*pat, 52.8, to_one_decimal);
}

TEST(seeds, a_mix_with_a_speed_of_zero_has_no_figure) {
  EXPECT_FALSE(predictability_adjusted({{0.5, 84.64}, {0.5, 0}}));
  EXPECT_FALSE(predictability_adjusted({}));
}

TEST(seeds, a_perplexity_and_a_speed_are_compared_as_shares_of_the_first) {
  EXPECT_NEAR(-100 * relative_change(5.5420, 5.5278), 0.26, to_two_decimals);
  EXPECT_NEAR(-100 * relative_change(38.34, 33.50), 12.6, to_one_decimal);
}

}  // namespace
