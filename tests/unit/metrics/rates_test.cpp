#include "metrics/rates.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::ClassSummary;
using metrics::summarise;
using tests::launch_of;
using tests::RequestBuilder;
using tests::trace_of;

std::string id(int i) { return "p" + std::to_string(i); }

/// Plain: 12 passes of 100 ms. Drafted: three passes of `ms`, each 4 offered and 3 accepted.
trace::Launch plain_launch(int round, int prompts) {
  std::vector<trace::Request> requests;
  for (int i = 0; i < prompts; ++i) {
    RequestBuilder builder(id(i));
    for (int pass = 0; pass < 12; ++pass) builder.plain(100);
    requests.push_back(builder.build());
  }
  return launch_of("plain", round, std::move(requests));
}

trace::Launch drafted_launch(int round, int prompts, int ms, int ms_step = 0) {
  std::vector<trace::Request> requests;
  for (int i = 0; i < prompts; ++i) {
    const int time = ms + (i % 2 == 0 ? ms_step : -ms_step);
    requests.push_back(
        RequestBuilder(id(i)).draft(time, 4, 3).draft(time, 4, 3).draft(time, 4, 3).build());
  }
  return launch_of("dflash", round, std::move(requests));
}

ClassSummary drafted_class(const trace::Trace& trace) {
  return summarise(trace, metrics::equal_mix(trace)).arms.at(1).classes.at(0);
}

TEST(rates, a_drafted_arm_is_taken_apart_and_compared) {
  // 4 tokens a pass of 200 ms against 1 a pass of 100 ms.
  const auto item =
      drafted_class(trace_of({"plain", "dflash"}, {plain_launch(0, 9), drafted_launch(0, 9, 200)}));
  EXPECT_NEAR(*item.tokens_per_s.value, 20, 1e-9);
  EXPECT_NEAR(*item.passes_per_s.value, 5, 1e-9);
  EXPECT_NEAR(*item.tokens_per_pass.value, 4, 1e-9);
  EXPECT_NEAR(*item.seconds_per_pass.value, 0.2, 1e-9);
  EXPECT_NEAR(*item.speedup.value, 2, 1e-9);
  EXPECT_NEAR(*item.pass_cost.value, 2, 1e-9);
  EXPECT_NEAR(item.as_run_tokens_per_s.value(), 20, 1e-9);
  EXPECT_NEAR(*item.acceptance.value, 0.75, 1e-12);
  EXPECT_NEAR(*item.fire_rate.value, 1, 1e-12);
  EXPECT_NEAR(*item.attempt_rate.value, 1, 1e-12);
  EXPECT_NEAR(*item.draft_per_pass.value, 4, 1e-12);
  EXPECT_NEAR(*item.acceptance_length, 4, 1e-12);
  EXPECT_NEAR(*item.ttft_s.value, 1, 1e-12);
  EXPECT_NEAR(*item.prefill_tokens_per_s.value, 10, 1e-12);
  EXPECT_EQ(item.prompts, 9);
  EXPECT_EQ(item.launches, 1);
  EXPECT_NEAR(item.n_eff, 9, 1e-12);
}

TEST(rates, half_the_prompts_slower_by_as_much_is_an_interval_worked_out_by_hand) {
  // s is 0.055 and 0.045 in turn, mean 0.05: relative deviations +-0.1 of 10 prompts, one launch:
  // half-width t_9 * 0.1 / 3 on the log. Plain has no spread, so speedup has the same.
  const double half = 2.262157 * 0.1 / 3;
  const auto item = drafted_class(
      trace_of({"plain", "dflash"}, {plain_launch(0, 10), drafted_launch(0, 10, 200, 20)}));
  EXPECT_NEAR(*item.tokens_per_s.value, 20, 1e-9);
  EXPECT_NEAR(*item.tokens_per_s.low, 20 * std::exp(-half), 1e-5);
  EXPECT_NEAR(*item.tokens_per_s.high, 20 * std::exp(half), 1e-5);
  EXPECT_NEAR(*item.passes_per_s.low, 5 * std::exp(-half), 1e-5);
  EXPECT_NEAR(*item.speedup.low, 2 * std::exp(-half), 1e-5);
  EXPECT_NEAR(*item.pass_cost.high, 2 * std::exp(half), 1e-5);
  EXPECT_NEAR(*item.seconds_per_pass.high, 0.2 * std::exp(half), 1e-6);
}

TEST(rates, launch_effects_common_to_both_arms_of_a_round_cancel_in_the_speedup) {
  std::vector<trace::Launch> launches;
  for (int round = 0; round < 3; ++round) {
    launches.push_back(plain_launch(round, 8));
    launches.push_back(drafted_launch(round, 8, 200));
    for (auto* launch : {&launches[launches.size() - 2], &launches.back()})
      for (auto& request : launch->requests)
        for (auto& emission : request.emissions) emission.at_ns *= 1 + round;
  }
  const auto item = drafted_class(trace_of({"plain", "dflash"}, launches));
  EXPECT_GT(*item.tokens_per_s.high / *item.tokens_per_s.low, 2);
  EXPECT_NEAR(*item.speedup.value, 2, 1e-9);
  if (item.speedup.low) {
    EXPECT_NEAR(*item.speedup.low, 2, 1e-6);
  }
}

TEST(rates, prompts_that_differ_alike_in_both_arms_cancel_in_the_speedup) {
  auto plain = plain_launch(0, 9);
  auto drafted = drafted_launch(0, 9, 200);
  for (auto* launch : {&plain, &drafted})
    for (std::size_t i = 0; i < launch->requests.size(); ++i)
      for (auto& emission : launch->requests[i].emissions)
        emission.at_ns *= 1 + static_cast<int>(i);
  const auto item = drafted_class(trace_of({"plain", "dflash"}, {plain, drafted}));
  EXPECT_GT(*item.tokens_per_s.high / *item.tokens_per_s.low, 1.5);
  EXPECT_NEAR(*item.speedup.value, 2, 1e-9);
  if (item.speedup.low) {
    EXPECT_NEAR(*item.speedup.low, 2, 1e-6);
  }
  EXPECT_NEAR(*item.pass_cost.value, 2, 1e-9);
  if (item.pass_cost.low) {
    EXPECT_NEAR(*item.pass_cost.low, 2, 1e-6);
  }
}

TEST(rates, texts_that_differ_do_not_widen_passes_per_second) {
  // Every pass takes 200 ms; half the prompts make 4 tokens of it and half 2.
  auto drafted = drafted_launch(0, 10, 200);
  for (std::size_t i = 0; i < 10; i += 2)
    drafted.requests[i] = RequestBuilder(id(static_cast<int>(i)))
                              .draft(200, 4, 1)
                              .draft(200, 4, 1)
                              .draft(200, 4, 1)
                              .build();
  const auto item = drafted_class(trace_of({"plain", "dflash"}, {plain_launch(0, 10), drafted}));
  // s is 0.1 and 0.05, f 0.5 and 0.25: relative deviations of a third on both.
  const double half = 2.262157 / 3 / 3;
  EXPECT_NEAR(*item.tokens_per_s.high, std::exp(half) / 0.075, 1e-4);
  EXPECT_NEAR(*item.tokens_per_pass.high, std::exp(half) / 0.375, 1e-4);
  EXPECT_NEAR(*item.passes_per_s.value, 5, 1e-9);
  if (item.passes_per_s.low) {
    EXPECT_NEAR(*item.passes_per_s.low, 5, 1e-6);
  }
}

TEST(rates, the_plain_arm_has_exactly_one_token_a_pass_and_no_drafter) {
  const auto trace = trace_of({"plain", "dflash"}, {plain_launch(0, 9), drafted_launch(0, 9, 200)});
  const auto item = summarise(trace, metrics::equal_mix(trace)).arms[0].classes[0];
  EXPECT_EQ(item.tokens_per_pass.value, 1.0);
  EXPECT_EQ(item.tokens_per_pass.low, 1.0);
  EXPECT_EQ(item.tokens_per_pass.high, 1.0);
  for (const auto* estimate :
       {&item.acceptance, &item.fire_rate, &item.attempt_rate, &item.draft_per_pass}) {
    EXPECT_FALSE(estimate->value);
    EXPECT_EQ(estimate->reason, "no drafter");
  }
  EXPECT_FALSE(item.acceptance_length);
  EXPECT_FALSE(item.speedup.value);
  EXPECT_EQ(item.speedup.reason, "this is the plain arm, the denominator");
}

TEST(rates, a_plain_arm_with_a_lost_pass_is_not_called_exactly_one) {
  auto launch = plain_launch(0, 9);
  launch.requests[0].passes.pop_back();
  const auto trace = trace_of({"plain"}, {launch});
  const auto item = summarise(trace, metrics::equal_mix(trace)).arms[0].classes[0];
  EXPECT_NEAR(*item.tokens_per_pass.value, 9 / (8 + 11.0 / 12), 1e-12);
  EXPECT_NE(item.tokens_per_pass.level, "exact");
}

TEST(rates, under_100_offered_tokens_no_comparison_is_made) {
  // 8 prompts offer 96 tokens in one launch, 9 offer 108.
  const auto few =
      drafted_class(trace_of({"plain", "dflash"}, {plain_launch(0, 8), drafted_launch(0, 8, 200)}));
  EXPECT_FALSE(few.speedup.value);
  EXPECT_EQ(few.speedup.reason, "only 96 draft tokens offered, under 100: no comparison");
  EXPECT_EQ(few.pass_cost.reason, few.speedup.reason);
  EXPECT_TRUE(few.tokens_per_s.value);
}

TEST(rates, exactly_100_offered_tokens_are_compared) {
  auto plain = plain_launch(0, 8);
  auto drafted = drafted_launch(0, 8, 200);
  auto longer = RequestBuilder(id(0)).draft(200, 4, 3).draft(200, 4, 3).draft(200, 4, 3);
  drafted.requests[0] = longer.draft(200, 4, 3).build();
  EXPECT_TRUE(
      drafted_class(trace_of({"plain", "dflash"}, {plain, drafted})).speedup.value.has_value());
}

TEST(rates, without_a_bare_plain_arm_there_is_no_speedup) {
  auto trace = trace_of({"plain", "dflash"}, {plain_launch(0, 9), drafted_launch(0, 9, 200)});
  trace.header.residency = "co_resident";
  EXPECT_EQ(drafted_class(trace).speedup.reason,
            "the plain arm was not loaded bare, alone in memory");
  const auto lonely = trace_of({"dflash"}, {drafted_launch(0, 9, 200)});
  const auto item = summarise(lonely, metrics::equal_mix(lonely)).arms[0].classes[0];
  EXPECT_FALSE(item.speedup.value);
  EXPECT_EQ(item.speedup.reason, "no plain arm");
  EXPECT_EQ(item.pass_cost_from_widths.reason, "no plain arm");
}

TEST(rates, an_arm_without_a_drafter_beside_plain_is_compared_as_an_a_a_arm) {
  auto again = plain_launch(0, 8);
  again.arm = "plain-again";
  auto trace = trace_of({"plain", "plain-again"}, {plain_launch(0, 8), again});
  trace.header.arms[1].setup.spec_type = trace::SpecType::none;
  const auto item = drafted_class(trace);
  EXPECT_NEAR(*item.speedup.value, 1, 1e-12);
  EXPECT_EQ(item.acceptance.reason, "no drafter");
}

TEST(rates, arms_are_compared_on_their_common_prompts) {
  // Plain lacks the last prompt, which is ten times slower in the drafted arm.
  auto drafted = drafted_launch(0, 10, 200);
  for (auto& emission : drafted.requests[9].emissions) emission.at_ns *= 10;
  const auto item = drafted_class(trace_of({"plain", "dflash"}, {plain_launch(0, 9), drafted}));
  EXPECT_EQ(item.prompts, 10);
  EXPECT_NEAR(*item.speedup.value, 2, 1e-9);
  EXPECT_EQ(item.speedup.n, 9);
  EXPECT_LT(*item.tokens_per_s.value, 12);
}

TEST(rates, a_speedup_over_too_uneven_plain_prompts_has_no_interval) {
  // Eight plain outputs of 13 tokens and one of 113: 217^2 / (8 * 169 + 12769) = 3.3.
  auto plain = plain_launch(0, 9);
  RequestBuilder longer(id(0));
  for (int pass = 0; pass < 112; ++pass) longer.plain(100);
  plain.requests[0] = longer.build();
  const auto item =
      drafted_class(trace_of({"plain", "dflash"}, {plain, drafted_launch(0, 9, 200, 20)}));
  EXPECT_TRUE(item.tokens_per_s.low);
  EXPECT_NEAR(*item.speedup.value, 2, 0.1);
  EXPECT_FALSE(item.speedup.low);
  EXPECT_NE(item.speedup.reason.find("worth 3.3 prompts"), std::string::npos);
}

TEST(rates, arms_without_a_common_round_are_not_compared) {
  const auto item =
      drafted_class(trace_of({"plain", "dflash"}, {plain_launch(0, 9), drafted_launch(1, 9, 200)}));
  EXPECT_EQ(item.speedup.reason, "no prompt was done by this arm and plain in one round");
}

TEST(rates, a_class_that_no_launch_finished_has_reasons_and_no_figures) {
  auto launch = plain_launch(0, 9);
  for (auto& request : launch.requests) request.outcome.kind = trace::OutcomeKind::refused;
  const auto trace = trace_of({"plain", "dflash"}, {launch, drafted_launch(0, 9, 200)});
  const auto summary = summarise(trace, metrics::equal_mix(trace));
  const auto& item = summary.arms[0].classes[0];
  EXPECT_EQ(item.requests_failed, 9);
  EXPECT_EQ(item.prompts_excluded, 9);
  for (const auto* estimate :
       {&item.tokens_per_s, &item.passes_per_s, &item.tokens_per_pass, &item.seconds_per_pass}) {
    EXPECT_FALSE(estimate->value);
    EXPECT_EQ(estimate->reason, "no prompt was done in every counted launch");
  }
  EXPECT_FALSE(item.ttft_s.value);
  EXPECT_FALSE(summary.arms[1].classes[0].speedup.value);
}

TEST(rates, an_engine_that_shows_no_passes_has_a_speed_and_nothing_else) {
  auto launch = plain_launch(0, 9);
  for (auto& request : launch.requests) request.passes.clear();
  const auto trace = trace_of({"plain"}, {launch});
  const auto item = summarise(trace, metrics::equal_mix(trace)).arms[0].classes[0];
  EXPECT_NEAR(*item.tokens_per_s.value, 10, 1e-9);
  EXPECT_FALSE(item.passes_per_s.value);
  EXPECT_EQ(item.tokens_per_pass.reason, "no passes were recorded");
}

TEST(rates, an_output_that_repeats_itself_is_flagged_over_three_tenths) {
  // 1000 and then a period of six: the window with 1000 and the first six are new, the rest not.
  const auto looped = [](int tokens) {
    RequestBuilder builder("a");
    for (int i = 0; i < tokens; ++i) builder.text({i % 6});
    const auto trace = trace_of({"plain"}, {launch_of("plain", 0, {builder.build()})});
    return summarise(trace, metrics::equal_mix(trace)).arms[0].classes[0];
  };
  EXPECT_DOUBLE_EQ(*looped(16).repeated_8gram_share, 3.0 / 10);
  EXPECT_FALSE(looped(16).looping);
  EXPECT_DOUBLE_EQ(*looped(17).repeated_8gram_share, 4.0 / 11);
  EXPECT_TRUE(looped(17).looping);
}

TEST(rates, an_output_shorter_than_a_window_has_no_share) {
  const auto trace =
      trace_of({"plain"}, {launch_of("plain", 0, {RequestBuilder("a").plain(1).build()})});
  EXPECT_FALSE(summarise(trace, metrics::equal_mix(trace)).arms[0].classes[0].repeated_8gram_share);
}

TEST(rates, fire_and_attempt_rates_leave_replays_out) {
  // S 2, P 2, R 1, attempts 3: one plain pass ran the drafter for nothing.
  auto request = RequestBuilder("a").replayed(10, 3, 1).draft(10, 4, 2).plain(10).plain(10).build();
  request.passes[4].attempts = 1;
  const auto trace = trace_of({"plain", "dflash"}, {launch_of("dflash", 0, {request})});
  const auto item = drafted_class(trace);
  EXPECT_DOUBLE_EQ(*item.fire_rate.value, 0.5);
  EXPECT_DOUBLE_EQ(*item.attempt_rate.value, 0.75);
  EXPECT_DOUBLE_EQ(*item.draft_per_pass.value, 3.5);
  EXPECT_DOUBLE_EQ(*item.acceptance.value, 3.0 / 7);
  EXPECT_DOUBLE_EQ(*item.acceptance_length, 2.5);
}

TEST(rates, several_drafters_a_pass_may_attempt_more_than_once) {
  auto launch = drafted_launch(0, 8, 200);
  for (std::size_t i = 0; i < 8; i += 2)
    for (auto& pass : launch.requests[i].passes) pass.attempts = 3;
  const auto item = drafted_class(trace_of({"plain", "dflash"}, {launch}));
  EXPECT_DOUBLE_EQ(*item.attempt_rate.value, 2);
  // 3 and 1 in turn: relative deviations of a half, on the log since it is no proportion.
  EXPECT_NEAR(*item.attempt_rate.high, 2 * std::exp(2.364624 * 0.5 / std::sqrt(7.0)), 1e-5);
}

TEST(rates, a_drafter_that_never_offered_has_no_acceptance) {
  auto request = RequestBuilder("a").plain(10).build();
  request.passes[0].attempts = 1;
  const auto trace = trace_of({"plain", "dflash"}, {launch_of("dflash", 0, {request})});
  const auto item = drafted_class(trace);
  EXPECT_EQ(item.acceptance.reason, "no draft token was offered");
  EXPECT_EQ(item.draft_per_pass.reason, "no pass carried a draft");
  EXPECT_FALSE(item.acceptance_length);
  EXPECT_DOUBLE_EQ(*item.fire_rate.value, 0);
  EXPECT_FALSE(item.fire_rate.low);
}

}  // namespace
