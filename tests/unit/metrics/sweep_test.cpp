#include "metrics/sweep.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metrics/summary.hpp"
#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::equal_mix;
using metrics::summarise_sweep;
using metrics::SweepSummary;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::RequestBuilder;

/// What one pass of an arm does; without a draft where nothing is offered.
struct Pass {
  int ms = 0;
  int offered = 0;
  int accepted = 0;
};

trace::Request request(const std::string& prompt, const Pass& pass) {
  RequestBuilder builder(prompt);
  for (int i = 0; i < 12; ++i)
    pass.offered == 0 ? builder.plain(pass.ms)
                      : builder.draft(pass.ms, pass.offered, pass.accepted);
  return builder.build();
}

void add_launch(trace::Trace& trace, const std::string& arm, int round, const Pass& pass,
                const std::string& prompts = "p") {
  trace::Launch launch;
  launch.index = static_cast<int>(trace.launches.size());
  launch.round = round;
  launch.arm = arm;
  launch.held_out = prompts != "p";
  for (int prompt = 0; prompt < 8; ++prompt)
    launch.requests.push_back(request(prompts + std::to_string(prompt), pass));
  trace.launches.push_back(std::move(launch));
}

trace::Arm arm(const std::string& name, int draft_length) {
  trace::Arm arm;
  arm.name = name;
  arm.setup.draft_n_max = draft_length;
  if (draft_length > 0) arm.setup.spec_type = trace::SpecType::draft_mtp;
  return arm;
}

constexpr Pass plain{30};               // 33.3 tokens per second
constexpr Pass short_drafts{60, 2, 2};  // 16.7 passes/s x 3 tokens = 50
constexpr Pass long_drafts{50, 4, 3};   // 20 passes/s x 4 tokens = 80

/// Two draft lengths and plain, three launches each; nothing but the arm makes a difference.
trace::Trace two_lengths() {
  trace::Trace trace;
  trace.header.residency = "bare";
  trace.header.rounds = 3;
  trace.header.arms = {arm("plain", 0), arm("n-max=2", 2), arm("n-max=4", 4)};
  trace.header.sweep = trace::Sweep{.options = {{"n-max", {"2", "4"}}},
                                    .points = {{"n-max=2", {"2"}}, {"n-max=4", {"4"}}},
                                    .rungs = {2, 2, 2},
                                    .rule = "all",
                                    .held_out_rounds = 3,
                                    .no_held_out = ""};
  for (int round = 0; round < 3; ++round) {
    add_launch(trace, "plain", round, plain);
    add_launch(trace, "n-max=2", round, short_drafts);
    add_launch(trace, "n-max=4", round, long_drafts);
  }
  return trace;
}

SweepSummary summary_of(const trace::Trace& trace) {
  const auto summary = summarise_sweep(trace, equal_mix(trace));
  EXPECT_TRUE(summary.has_value());
  return summary.value_or(SweepSummary{});
}

TEST(Sweep, is_nothing_of_a_run_that_is_none) {
  auto trace = two_lengths();
  trace.header.sweep.reset();
  EXPECT_FALSE(summarise_sweep(trace, equal_mix(trace)));
}

TEST(Sweep, gives_every_point_its_speed_taken_apart_and_over_its_plain_arm) {
  const auto summary = summary_of(two_lengths());
  ASSERT_EQ(summary.cells.size(), 2U);
  const auto& cell = summary.cells[0];
  EXPECT_NEAR(*cell.tokens_per_s.value, 50, 1e-9);
  EXPECT_NEAR(*cell.passes_per_s, 1 / 0.060, 1e-9);
  EXPECT_NEAR(*cell.tokens_per_pass, 3, 1e-9);
  EXPECT_NEAR(*cell.speedup.value, 1.5, 1e-9);
  EXPECT_NEAR(*cell.acceptance, 1, 1e-12);
  EXPECT_NEAR(*summary.cells[1].acceptance, 0.75, 1e-12);
  EXPECT_NEAR(*summary.cells[1].draft_per_pass, 4, 1e-12);
  EXPECT_NEAR(*summary.cells[1].speedup.value, 2.4, 1e-9);
  EXPECT_NEAR(*summary.cells[1].against_best.value, 1.6, 1e-9);
  EXPECT_EQ(summary.best, "n-max=4");
  EXPECT_EQ(summary.no_set, "");
  EXPECT_TRUE(summary.cells[1].in_best_set);
  EXPECT_FALSE(summary.cells[0].in_best_set);
}

TEST(Sweep, warns_that_the_best_acceptance_is_not_the_best_speed_and_of_passes_out_of_order) {
  const auto summary = summary_of(two_lengths());
  ASSERT_EQ(summary.draft_lengths.size(), 2U);
  EXPECT_EQ(summary.draft_lengths[1].draft_length, 4);
  ASSERT_EQ(summary.findings.size(), 2U);
  EXPECT_THAT(summary.findings[0], HasSubstr("acceptance is best at draft length 2 (100.00 %"));
  EXPECT_THAT(summary.findings[0], HasSubstr("speed at 4 (75.00 %, 80.00 tokens per second)"));
  EXPECT_THAT(summary.findings[1], HasSubstr("passes of draft length 2 (16.67 per second)"));
}

TEST(Sweep, says_of_speeds_within_noise_that_they_cannot_be_told_apart) {
  auto trace = two_lengths();
  // The same on two threads: a tenth of the speed, so that neither is near the best, and drafts of
  // 4 a little faster than those of 2, by less than its launches differ.
  auto& sweep = *trace.header.sweep;
  sweep.options.push_back({"threads", {"1", "2"}});
  for (auto& point : sweep.points) point.values.emplace_back("1");
  for (const int length : {2, 4}) {
    auto slow = arm(fmt::format("n-max={} threads=2", length), length);
    slow.setup.threads = 2;
    trace.header.arms.push_back(slow);
    sweep.points.push_back({slow.name, {std::to_string(length), "2"}});
  }
  sweep.rungs = {4, 4, 4};
  for (int round = 0; round < 3; ++round) {
    add_launch(trace, "n-max=2 threads=2", round, {600, 2, 2});
    add_launch(trace, "n-max=4 threads=2", round, {730 + 50 * round, 4, 3});
  }
  const auto summary = summary_of(trace);
  ASSERT_EQ(summary.no_set, "");
  EXPECT_FALSE(summary.cells[2].in_best_set || summary.cells[3].in_best_set);
  ASSERT_EQ(summary.findings.size(), 3U);
  EXPECT_THAT(summary.findings[0], HasSubstr("threads=1: acceptance is best at draft length 2"));
  EXPECT_THAT(summary.findings[0], HasSubstr("choosing by acceptance costs 37.5 %"));
  EXPECT_THAT(summary.findings[2], HasSubstr("threads=2: acceptance is best at draft length 2"));
  EXPECT_THAT(summary.findings[2], HasSubstr("these speeds cannot be told apart"));
}

TEST(Sweep, keeps_held_out_launches_out_of_what_the_winner_is_chosen_by) {
  auto trace = two_lengths();
  for (int round = 3; round < 6; ++round) {
    add_launch(trace, "n-max=4", round, {100, 4, 3}, "held");
    add_launch(trace, "plain", round, {40}, "held");
  }
  const auto summary = summary_of(trace);
  EXPECT_NEAR(*summary.cells[1].tokens_per_s.value, 80, 1e-9);
  ASSERT_TRUE(summary.held_out);
  EXPECT_EQ(summary.held_out->arm, "n-max=4");
  EXPECT_EQ(summary.held_out->prompts, 8);
  EXPECT_EQ(summary.held_out->launches, 3);
  EXPECT_NEAR(*summary.held_out->tokens_per_s.value, 40, 1e-9);
  EXPECT_NEAR(*summary.held_out->speedup.value, 40 / 25.0, 1e-9);
  const auto all = metrics::summarise(trace, equal_mix(trace));
  EXPECT_NEAR(*all.arms[2].classes[0].tokens_per_s.value, 80, 1e-9);
  EXPECT_EQ(all.arms[2].classes[0].prompts_excluded, 0);
}

TEST(Sweep, without_held_out_launches_says_why_there_is_nothing_to_quote) {
  auto trace = two_lengths();
  EXPECT_EQ(summary_of(trace).no_held_out, "the run ended before the winner was measured again");
  trace.header.sweep->no_held_out = "class code has 2 prompts";
  EXPECT_EQ(summary_of(trace).no_held_out, "class code has 2 prompts");
}

TEST(Sweep, ranks_only_points_that_halving_kept) {
  auto trace = two_lengths();
  trace.header.sweep->method = trace::SweepMethod::halving;
  trace.header.sweep->rungs = {2, 1, 1};
  std::erase_if(trace.launches, [](const trace::Launch& launch) {
    return launch.arm == "n-max=4" && launch.round > 0;
  });
  const auto summary = summary_of(trace);
  EXPECT_EQ(summary.best, "n-max=2") << "whatever n-max=4 did in the rounds it had";
  EXPECT_EQ(summary.cells[1].left_out_after, 0);
  EXPECT_FALSE(summary.cells[1].speedup.value);
  EXPECT_NEAR(*summary.cells[1].tokens_per_s.value, 80, 1e-9);
  EXPECT_EQ(summary.draft_lengths.size(), 2U);
  EXPECT_THAT(summary.findings, IsEmpty()) << "n-max=4 is no choice any more";
}

TEST(Sweep, leaves_no_point_out_by_a_rung_that_was_not_launched_to_its_end) {
  auto trace = two_lengths();
  trace.header.sweep->method = trace::SweepMethod::halving;
  // The last rung has n-max=2 alone; then the same in the first one, after which nothing is known.
  for (const int stopped : {2, 0}) {
    std::erase_if(trace.launches, [&](const trace::Launch& launch) {
      return launch.round > stopped || (launch.arm == "n-max=4" && launch.round == stopped);
    });
    const auto summary = summary_of(trace);
    EXPECT_FALSE(summary.cells[0].left_out_after) << stopped;
    EXPECT_FALSE(summary.cells[1].left_out_after) << stopped;
    EXPECT_EQ(summary.best, stopped == 2 ? "n-max=4" : "n-max=2");
  }
  EXPECT_EQ(summary_of(trace).cells[1].tokens_per_s.reason, "no launch gave a figure");
}

TEST(Sweep, compares_points_on_the_prompts_and_rounds_that_all_have) {
  auto trace = two_lengths();
  // The first launch of plain is lost: two rounds are left, and no set can be given.
  trace.launches[0].requests.clear();
  const auto summary = summary_of(trace);
  EXPECT_EQ(summary.cells[0].launches, 2);
  EXPECT_THAT(summary.no_set, HasSubstr("2 launches"));
  EXPECT_NEAR(*summary.cells[1].speedup.value, 2.4, 1e-9);
  EXPECT_FALSE(summary.cells[1].speedup.low);
}

}  // namespace
