#include "metrics/widths.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::pass_cost_from_widths;
using metrics::width_curves;
using tests::trace_of;

constexpr trace::Nanoseconds ms = 1'000'000;
constexpr double t_2 = 4.302653;

trace::WidthTime probe(int width, std::vector<trace::Nanoseconds> verify,
                       std::vector<trace::Nanoseconds> draft = {},
                       std::vector<trace::Nanoseconds> process = {}) {
  return {width, 128, false, std::move(verify), std::move(draft), std::move(process)};
}

trace::Launch probed(const std::string& arm, int round, std::vector<trace::WidthTime> widths) {
  auto launch = tests::launch_of(arm, round, {});
  launch.widths = std::move(widths);
  return launch;
}

/// Three rounds; the plain pass takes 10, 20 and 10 ms, the other arm's launches do not follow.
trace::Trace three_rounds() {
  std::vector<trace::Launch> launches;
  const trace::Nanoseconds plain[] = {10 * ms, 20 * ms, 10 * ms};
  for (int round = 0; round < 3; ++round) {
    launches.push_back(probed("plain", round, {probe(1, {plain[round]})}));
    launches.push_back(
        probed("dflash", round,
               {probe(1, {11 * ms}, {3 * ms}, {1 * ms}), probe(4, {16 * ms}, {4 * ms}, {2 * ms})}));
  }
  return trace_of({"plain", "dflash"}, std::move(launches));
}

metrics::Counts counts_of(std::map<int, long> widths, std::map<int, long> attempted) {
  metrics::Counts counts;
  for (const auto& [width, passes] : widths) counts.passes += passes;
  counts.widths = std::move(widths);
  counts.attempted_widths = std::move(attempted);
  return counts;
}

TEST(widths, a_curve_is_medians_within_a_launch_then_the_log_mean_of_launches) {
  const auto trace = trace_of(
      {"plain"}, {probed("plain", 0, {probe(1, {9 * ms, 10 * ms, 90 * ms}), probe(2, {20 * ms})}),
                  probed("plain", 1, {probe(2, {10 * ms, 30 * ms}), probe(1, {20 * ms})}),
                  probed("plain", 2, {probe(1, {40 * ms}), probe(2, {20 * ms})})});
  const auto curves = width_curves(trace, "plain");
  ASSERT_EQ(curves.size(), 1u);
  const auto* curve = &curves.front();
  ASSERT_EQ(curve->widths.size(), 2u);
  EXPECT_EQ(curve->widths[0].width, 1);
  EXPECT_EQ(curve->widths[0].depth, 128);
  EXPECT_NEAR(*curve->widths[0].verify_s.value, 0.020, 1e-12);  // of 10, 20, 40 ms
  const double half = t_2 * std::log(2.0) / std::sqrt(3.0);
  EXPECT_NEAR(*curve->widths[0].verify_s.high, 0.020 * std::exp(half), 1e-6);
  EXPECT_EQ(curve->widths[0].step, 0);
  EXPECT_NEAR(*curve->widths[1].verify_s.value, 0.020, 1e-12);
  EXPECT_NEAR(curve->widths[1].step, 1, 1e-12);
}

TEST(widths, a_step_is_over_the_next_narrower_width_of_the_same_depth) {
  auto deep = probe(1, {50 * ms});
  deep.depth = 1024;
  const auto trace = trace_of(
      {"plain"},
      {probed("plain", 0, {probe(8, {30 * ms}), deep, probe(1, {10 * ms}), probe(4, {12 * ms})})});
  const auto curves = width_curves(trace, "plain");
  ASSERT_EQ(curves.size(), 1u);
  const auto* curve = &curves.front();
  ASSERT_EQ(curve->widths.size(), 4u);
  EXPECT_NEAR(curve->widths[1].step, 1.2, 1e-12);
  EXPECT_NEAR(curve->widths[2].step, 2.5, 1e-12);
  EXPECT_EQ(curve->widths[3].depth, 1024);
  EXPECT_EQ(curve->widths[3].step, 0);
}

TEST(widths, drafts_and_catch_ups_stand_beside_the_curve) {
  const auto curves = width_curves(three_rounds(), "dflash");
  ASSERT_EQ(curves.size(), 1u);
  const auto* curve = &curves.front();
  EXPECT_NEAR(curve->draft_s.at(1), 0.003, 1e-12);
  EXPECT_NEAR(curve->draft_s.at(4), 0.004, 1e-12);
  EXPECT_NEAR(curve->process_s.at(4), 0.002, 1e-12);
  EXPECT_TRUE(width_curves(three_rounds(), "plain").front().draft_s.empty());
  EXPECT_TRUE(width_curves(three_rounds(), "mtp").empty());
}

TEST(widths, the_cost_of_a_pass_is_its_probed_parts_over_plain_width_1_of_the_same_round) {
  // Of four passes three are 4 wide with a draft (16 + 2 + 4 ms), one is plain (11 + 1 ms):
  // 78 / 4 = 19.5 ms, over 10, 20 and 10 ms.
  const auto cost = pass_cost_from_widths(three_rounds(), "dflash", "plain",
                                          counts_of({{1, 1}, {4, 3}}, {{4, 3}}), 0);
  ASSERT_TRUE(cost.value);
  EXPECT_NEAR(*cost.value, std::cbrt(1.95 * 0.975 * 1.95), 1e-12);
  const double spread = std::log(2.0) / 3;  // standard error of logs L, L - ln 2, L
  EXPECT_NEAR(*cost.low, *cost.value * std::exp(-t_2 * spread), 1e-5);
  EXPECT_EQ(cost.level, "95 % over launches");
}

TEST(widths, a_pass_that_ran_the_drafter_for_nothing_pays_for_it) {
  const auto cost =
      pass_cost_from_widths(three_rounds(), "dflash", "plain", counts_of({{1, 1}}, {{1, 1}}), 0);
  EXPECT_NEAR(*cost.value, std::cbrt(1.5 * 0.75 * 1.5), 1e-12);
}

TEST(widths, a_width_without_a_draft_time_of_its_own_takes_the_launches_median_draft) {
  const auto trace = trace_of(
      {"plain", "dflash"},
      {probed("plain", 0, {probe(1, {10 * ms})}),
       probed("dflash", 0, {probe(3, {14 * ms}, {}, {}), probe(4, {16 * ms}, {4 * ms}, {})})});
  const auto cost =
      pass_cost_from_widths(trace, "dflash", "plain", counts_of({{3, 1}}, {{3, 1}}), 0);
  EXPECT_NEAR(*cost.value, 1.8, 1e-12);
  EXPECT_FALSE(cost.low);
  EXPECT_EQ(cost.reason, "too few: 1 launch, an interval needs 3");
}

// Probes behind a filled context of as many tokens as others made for themselves are kept apart.
TEST(widths, each_filled_depth_has_a_curve_and_a_cost_of_its_own) {
  auto trace = three_rounds();
  for (auto& launch : trace.launches)
    for (auto probe : std::vector<trace::WidthTime>(launch.widths)) {
      probe.on_filled = true;
      for (auto& time : probe.verify_ns) time *= 3;
      launch.widths.push_back(probe);
    }
  const auto curves = width_curves(trace, "dflash");
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].filled_tokens, 0);
  EXPECT_EQ(curves[1].filled_tokens, 128);
  EXPECT_NEAR(*curves[0].widths.at(1).verify_s.value, 0.016, 1e-12);
  EXPECT_NEAR(*curves[1].widths.at(1).verify_s.value, 0.048, 1e-12);
  const auto counts = counts_of({{4, 1}}, {{4, 1}});
  const auto at = [&](int filled) {
    return *pass_cost_from_widths(trace, "dflash", "plain", counts, filled).value;
  };
  EXPECT_NEAR(at(0), std::cbrt(2.2 * 1.1 * 2.2), 1e-12);    // 16 + 2 + 4 over 10, 20, 10
  EXPECT_NEAR(at(128), std::cbrt(1.8 * 0.9 * 1.8), 1e-12);  // 48 + 2 + 4 over 30, 60, 30
}

TEST(widths, what_was_not_probed_makes_the_cost_unknown_with_a_reason) {
  const auto reason = [](const trace::Trace& trace, const metrics::Counts& counts) {
    const auto cost = pass_cost_from_widths(trace, "dflash", "plain", counts, 0);
    EXPECT_FALSE(cost.value);
    return cost.reason;
  };
  const auto used = counts_of({{4, 3}}, {{4, 3}});
  EXPECT_EQ(reason(three_rounds(), counts_of({{6, 1}}, {})), "width 6 was not probed on this arm");
  EXPECT_EQ(reason(three_rounds(), {}), "no passes were recorded");
  const auto plain = probed("plain", 0, {probe(1, {10 * ms})});
  EXPECT_EQ(
      reason(trace_of({}, {plain}), used),
      "passes of chosen widths were not timed: no server can be told to, and a probe may fail");
  const auto arm = probed("dflash", 0, {probe(4, {16 * ms})});
  EXPECT_EQ(reason(trace_of({}, {plain, arm}), used),
            "drafts were not timed apart from the text: n-grams have none apart from it");
  EXPECT_EQ(reason(trace_of({}, {arm}), used),
            "width 1 was not probed on the plain arm in the same round");
  EXPECT_EQ(reason(trace_of({}, {probed("plain", 1, {probe(1, {10 * ms})}), arm}), used),
            "width 1 was not probed on the plain arm in the same round");
  EXPECT_EQ(reason(trace_of({}, {probed("plain", 0, {probe(2, {10 * ms})}), arm}), used),
            "width 1 was not probed on the plain arm");
  auto deep = plain;
  deep.widths[0].depth = 64;
  EXPECT_EQ(reason(trace_of({}, {deep, arm}), used),
            "this arm and plain were probed at different depths");
  auto several = arm;
  several.widths.push_back(probe(1, {10 * ms}));
  several.widths[1].depth = 64;
  EXPECT_EQ(reason(trace_of({}, {plain, several}), used), "widths were probed at several depths");
}

}  // namespace
