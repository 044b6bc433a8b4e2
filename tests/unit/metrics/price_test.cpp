#include "metrics/price.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::Counts;
using metrics::DefaultPrice;
using metrics::Sample;

Counts cell(long tokens, long passes, double seconds) {
  Counts counts;
  counts.requests = 1;
  counts.output_tokens = tokens + 1;
  counts.decode_tokens = tokens;
  counts.passes = passes;
  counts.decode_s = seconds;
  return counts;
}

/// `prompts` prompts, each a family of its own, in `rounds` launches; make(prompt, launch) a cell.
template <class Make>
Sample sample(int prompts, int rounds, Make make) {
  Sample sample;
  for (int round = 0; round < rounds; ++round) sample.rounds.push_back(round);
  for (int prompt = 0; prompt < prompts; ++prompt) {
    metrics::PromptCells cells{"p" + std::to_string(prompt), "f" + std::to_string(prompt), {}};
    for (int launch = 0; launch < rounds; ++launch) cells.launches.push_back(make(prompt, launch));
    sample.prompts.push_back(std::move(cells));
  }
  return sample;
}

DefaultPrice price(const Sample& with, const Sample& without, bool drafts = true) {
  DefaultPrice price;
  metrics::fill_price(price, with, without, drafts);
  return price;
}

// DEFINITIONS 12. Full drafts of 15: 1 + 15 x 0.3618 and 1 + 15 x 0.3867 tokens a pass.
TEST(price, of_the_seeds_min_p_is_8_percent_mostly_in_tokens_per_pass) {
  const auto with = sample(1, 1, [](int, int) { return cell(64'270, 10'000, 64'270 / 78.29); });
  const auto without = sample(1, 1, [](int, int) { return cell(68'005, 10'000, 68'005 / 84.64); });
  const auto result = price(with, without);
  EXPECT_NEAR(*result.tokens_per_s.value, 1.081, 5e-4);
  EXPECT_NEAR(*result.tokens_per_pass.value, 1.058, 5e-4);
  EXPECT_NEAR(*result.passes_per_s.value, 1.022, 5e-4);
  EXPECT_FALSE(result.tokens_per_s.low) << "one prompt makes no interval";
  EXPECT_FALSE(result.tokens_per_s.reason.empty());
}

// Prompts and launches that differ by a factor of ten leave a constant ratio as sure as it is.
TEST(price, is_paired_so_that_what_both_arms_share_does_not_widen_it) {
  const auto shared = [](int prompt, int launch) { return (1 + prompt) * (1 + 0.2 * launch); };
  const auto with =
      sample(10, 3, [&](int prompt, int launch) { return cell(100, 50, shared(prompt, launch)); });
  const auto without = sample(
      10, 3, [&](int prompt, int launch) { return cell(100, 40, 0.9 * shared(prompt, launch)); });
  const auto result = price(with, without);
  for (const auto& [estimate, value] :
       {std::pair{result.tokens_per_s, 1 / 0.9}, std::pair{result.tokens_per_pass, 1.25},
        std::pair{result.passes_per_s, 1 / 0.9 / 1.25}}) {
    EXPECT_NEAR(*estimate.value, value, 1e-9);
    EXPECT_NEAR(*estimate.low, value, 1e-6);
    EXPECT_NEAR(*estimate.high, value, 1e-6);
  }
}

TEST(price, is_the_product_of_its_parts_and_each_has_an_interval_of_its_own) {
  const auto with = sample(9, 3, [](int prompt, int launch) {
    return cell(100, 40 + prompt, 2.0 + 0.1 * (prompt % 3) + 0.05 * launch);
  });
  const auto without = sample(9, 3, [](int prompt, int launch) {
    return cell(90, 30 + 2 * (prompt % 4), 1.7 + 0.1 * (prompt % 2) + 0.02 * launch * launch);
  });
  const auto result = price(with, without);
  EXPECT_NEAR(*result.tokens_per_s.value,
              *result.passes_per_s.value * *result.tokens_per_pass.value, 1e-12);
  for (const auto* part : {&result.tokens_per_s, &result.passes_per_s, &result.tokens_per_pass}) {
    EXPECT_LT(*part->low, *part->value);
    EXPECT_GT(*part->high, *part->value);
    EXPECT_EQ(part->level, "95 % over prompts and launches");
  }
}

TEST(price, of_a_plain_arm_leaves_tokens_per_pass_at_exactly_one) {
  const auto with = sample(9, 3, [](int, int) { return cell(100, 100, 2.0); });
  const auto without = sample(9, 3, [](int, int) { return cell(100, 100, 1.9); });
  const auto result = price(with, without, false);
  EXPECT_EQ(result.tokens_per_pass.level, "exact");
  EXPECT_EQ(result.tokens_per_pass.low, 1.0);
  EXPECT_EQ(result.tokens_per_pass.high, 1.0);
  EXPECT_NEAR(*result.passes_per_s.value, 2.0 / 1.9, 1e-12);
}

TEST(price, is_unknown_without_a_prompt_that_both_arms_did) {
  const auto with = sample(1, 1, [](int, int) { return cell(100, 100, 2.0); });
  auto without = with;
  without.prompts[0].prompt_id = "other";
  EXPECT_FALSE(price(with, without).tokens_per_s.value);
  EXPECT_NE(price(with, without).passes_per_s.reason.find("in one round"), std::string::npos);
}

TEST(price, is_asked_of_every_arm_that_leaves_a_default_out_and_of_no_other) {
  const auto request = [](int ms) {
    return tests::RequestBuilder("a").draft(ms, 3, 2).draft(ms, 3, 2).build();
  };
  auto trace = tests::trace_of(
      {"plain", "mtp", "mtp-no-min_p"},
      {tests::launch_of("plain", 0, {request(9)}), tests::launch_of("mtp", 0, {request(22)}),
       tests::launch_of("mtp-no-min_p", 0, {request(20)})});
  trace.header.arms[2].neutralised = trace::Neutralised{"mtp", "min_p", 0.05};
  const auto prices = metrics::price_defaults(trace);
  ASSERT_EQ(prices.size(), 1u);
  EXPECT_EQ(prices[0].arm, "mtp");
  EXPECT_EQ(prices[0].without, "mtp-no-min_p");
  EXPECT_EQ(prices[0].parameter, "min_p");
  EXPECT_EQ(prices[0].parameter_value, 0.05);
  EXPECT_EQ(prices[0].workload_class, "code");
  EXPECT_NEAR(*prices[0].tokens_per_s.value, 1.1, 1e-9);
  EXPECT_NEAR(*prices[0].tokens_per_pass.value, 1, 1e-9);
}

}  // namespace
