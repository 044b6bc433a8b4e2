// Whole summaries of simulated runs against the truth they were made from.

#include "metrics/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/simulated/text.hpp"
#include "support/simulated_study.hpp"

namespace {

using namespace paceline;
using engine::simulated::FaultKind;
using engine::simulated::Truth;
using metrics::ClassSummary;
using metrics::summarise;
using metrics::Summary;

Summary summary_of(const trace::Trace& trace) {
  return summarise(trace, metrics::equal_mix(trace));
}

Truth accepting(std::vector<double> probabilities) {
  Truth truth;
  truth.acceptance = [probabilities](const trace::Setup&, std::string_view) {
    return probabilities;
  };
  return truth;
}

/// A factor for a text, the same each time and everywhere; its logarithm has mean 0 and about the
/// given standard deviation (twelve uniform numbers add up to nearly a normal one).
double factor_for(std::uint64_t seed, std::string_view text, double sd) {
  double sum = -6;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto number = engine::simulated::mix(engine::simulated::hash(text) + seed, i);
    sum += static_cast<double>(number >> 11) / 9007199254740992.0;
  }
  return std::exp(sd * sum);
}

TEST(summary, a_machine_without_noise_gives_its_truth) {
  // A plain pass takes 10 ms; four tokens a pass of 3 + 16 + 1 ms: 20 ms for 4, against 40.
  auto truth = accepting({1, 1, 1});
  truth.verify_s = [](int width) { return width == 1 ? 0.010 : 0.016; };
  truth.phases.draft_s = 0.003;
  truth.phases.process_s = 0.001;
  auto plan = tests::two_arm_plan(9, 3);
  plan.arms[1].setup.draft_n_max = 3;
  plan.n_predict = 41;
  plan.probe_widths = {1, 2, 3, 4};
  const auto summary = summary_of(tests::run_study(truth, plan));
  const auto& plain = summary.arms[0].classes[0];
  const auto& drafted = summary.arms[1].classes[0];
  EXPECT_NEAR(*plain.tokens_per_s.value, 100, 1e-9);
  EXPECT_EQ(plain.tokens_per_pass.value, 1.0);
  EXPECT_NEAR(*drafted.tokens_per_s.value, 200, 1e-9);
  EXPECT_NEAR(*drafted.passes_per_s.value, 50, 1e-9);
  EXPECT_NEAR(*drafted.tokens_per_pass.value, 4, 1e-9);
  EXPECT_NEAR(*drafted.speedup.value, 2, 1e-9);
  EXPECT_NEAR(*drafted.pass_cost.value, 2, 1e-9);
  EXPECT_NEAR(*drafted.pass_cost_from_widths.value, 2, 1e-9);
  EXPECT_NEAR(*summary.arms[1].pat_decode.value, 200, 1e-9);
  EXPECT_TRUE(summary.contradictions.empty());
  ASSERT_EQ(summary.curves.size(), 2u);
  EXPECT_NEAR(*summary.curves[1].widths[3].verify_s.value, 0.016, 1e-12);
  EXPECT_NEAR(summary.curves[1].widths[1].step, 1.6, 1e-9);
}

/// With other KV types passes take three times as long: that is no gain or loss of the drafter.
TEST(summary, a_speedup_is_over_the_plain_arm_of_the_same_kv_types) {
  auto truth = accepting({1, 1, 1});
  truth.verify_s = [](int width) { return width == 1 ? 0.010 : 0.020; };
  truth.launch_factor = [](int launch) { return launch % 4 < 2 ? 1.0 : 3.0; };
  auto plan = tests::two_arm_plan(9, 3);
  plan.arms[1].setup.draft_n_max = 3;
  plan.arms.push_back(plan.arms[0]);
  plan.arms.push_back(plan.arms[1]);
  for (std::size_t i : {2u, 3u}) {
    plan.arms[i].name += "@k:q8_0";
    plan.arms[i].plain = "plain@k:q8_0";
  }
  plan.n_predict = 41;
  plan.probe_widths = {1, 2, 3, 4};
  const auto trace = tests::run_study(truth, plan);
  const auto summary = summary_of(trace);
  for (const std::size_t drafted : {1u, 3u}) {  // 4 tokens in 20 ms against 10 ms each
    const auto& figures = summary.arms[drafted].classes[0];
    EXPECT_NEAR(*figures.speedup.value, 2, 1e-9);
    EXPECT_NEAR(*figures.pass_cost.value, 2, 1e-9);
    EXPECT_NEAR(*figures.pass_cost_from_widths.value, 2, 1e-9);
  }
  for (const std::size_t plain : {0u, 2u})
    EXPECT_EQ(summary.arms[plain].classes[0].speedup.reason,
              "this is the plain arm, the denominator");

  auto without = trace;
  without.header.arms[3].plain = "plain@k:q4_0";
  EXPECT_EQ(summary_of(without).arms[3].classes[0].speedup.reason, "no plain arm");
}

TEST(summary, pass_cost_from_widths_does_not_look_at_request_times) {
  auto truth = accepting({1, 1, 1});
  truth.verify_s = [](int width) { return 0.010 * width; };
  auto plan = tests::two_arm_plan(9, 3);
  plan.probe_widths = {1, 2, 3, 4, 5, 6, 7, 8};
  auto trace = tests::run_study(truth, plan);
  const auto before = summary_of(trace).arms[1].classes[0];
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests)
      for (auto& emission : request.emissions) emission.at_ns *= 3;
  const auto after = summary_of(trace).arms[1].classes[0];
  EXPECT_NE(*before.tokens_per_s.value, *after.tokens_per_s.value);
  EXPECT_EQ(*before.pass_cost_from_widths.value, *after.pass_cost_from_widths.value);
}

TEST(summary, conditional_acceptance_by_position_is_recovered_within_binomial_error) {
  const std::vector<double> conditional{0.9, 0.7, 0.5, 0.3};
  auto truth = accepting(conditional);
  truth.seed = 11;
  truth.shortest_draft = 1;  // lengths vary: dividing by accepted[i - 1] would be wrong
  auto plan = tests::two_arm_plan(10, 3);
  plan.arms[1].setup.draft_n_max = 4;
  plan.n_predict = 400;
  const auto trace = tests::run_study(truth, plan);
  const auto counts = summary_of(trace).arms[1].classes[0].counts;
  ASSERT_EQ(counts.positions.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& position = counts.positions[i];
    const auto reached = position.reached.number();
    ASSERT_GT(reached, 100);
    const double error = std::sqrt(conditional[i] * (1 - conditional[i]) / reached);
    EXPECT_NEAR(static_cast<double>(position.accepted) / reached, conditional[i], 4 * error) << i;
  }
}

TEST(summary, tokens_per_pass_is_one_plus_the_chance_of_reaching_each_position) {
  // 1 + 0.8 + 0.8 * 0.5 = 2.2, less at the end of a text only: 2000 tokens make that small.
  auto truth = accepting({0.8, 0.5});
  truth.seed = 5;
  auto plan = tests::two_arm_plan(8, 3);
  plan.arms[1].setup.draft_n_max = 2;
  plan.n_predict = 2000;
  const auto item = summary_of(tests::run_study(truth, plan)).arms[1].classes[0];
  const double passes = item.counts.passes.number();
  // Variance of the accepted: E[a^2] - 1.2^2 = (0.4 + 4 * 0.4) - 1.44.
  const double error = std::sqrt(0.56 / passes);
  EXPECT_NEAR(*item.tokens_per_pass.value, 2.2, 4 * error + 2.0 / 2000);
  EXPECT_NEAR(*item.acceptance_length, 2.2, 4 * error + 2.0 / 2000);
}

TEST(summary, fire_probability_is_recovered) {
  auto truth = accepting({0.5, 0.5});
  truth.fire_probability = 0.6;
  auto plan = tests::two_arm_plan(10, 3);
  plan.n_predict = 300;
  const auto item = summary_of(tests::run_study(truth, plan)).arms[1].classes[0];
  const double passes = item.counts.passes.number();
  EXPECT_NEAR(*item.fire_rate.value, 0.6, 4 * std::sqrt(0.24 / passes) + 1.0 / 300);
  EXPECT_LT(*item.fire_rate.low, 0.6 + 1.0 / 300);
  EXPECT_GT(*item.fire_rate.high, 0.6 - 1.0 / 300);
}

TEST(summary, known_speeds_lie_in_their_intervals_with_launch_prompt_and_pass_noise) {
  auto truth = accepting({1, 1, 1});
  truth.seed = 3;
  truth.launch_factor = [](int launch) { return factor_for(17, std::to_string(launch), 0.04); };
  truth.prompt_factor = [](std::string_view prompt) { return factor_for(18, prompt, 0.15); };
  truth.pass_noise_sd = 0.1;
  truth.verify_s = [](int width) { return width == 1 ? 0.010 : 0.016; };
  auto plan = tests::two_arm_plan(12, 5);
  plan.arms[1].setup.draft_n_max = 3;
  plan.n_predict = 41;
  const auto item = summary_of(tests::run_study(truth, plan)).arms[1].classes[0];
  EXPECT_LT(*item.speedup.low, 2.5);
  EXPECT_GT(*item.speedup.high, 2.5);
  EXPECT_LT(*item.pass_cost.low, 1.6);
  EXPECT_GT(*item.pass_cost.high, 1.6);
  EXPECT_LT(*item.passes_per_s.low, 62.5);
  EXPECT_GT(*item.passes_per_s.high, 62.5);
  EXPECT_LT(*item.speedup.high / *item.speedup.low, 1.25);
}

TEST(summary, a_refused_and_a_crashed_launch_are_lost_and_the_rest_counts) {
  auto truth = accepting({1, 1, 1});
  // Launches alternate plain, dflash. Launch 1 never opens; launch 3 dies in its third job of 12.
  truth.faults = {{FaultKind::refuse_open, 1, 0, 0}, {FaultKind::crash, 3, 2, 0}};
  const auto trace = tests::run_study(truth, tests::two_arm_plan(12, 4));
  const auto summary = summary_of(trace);
  EXPECT_EQ(summary.arms[0].launches_done, 4);
  EXPECT_EQ(summary.arms[1].launches_done, 2);
  EXPECT_EQ(summary.arms[1].launches_lost, 2);
  const auto& item = summary.arms[1].classes[0];
  EXPECT_EQ(item.prompts, 12);
  EXPECT_EQ(item.launches, 2);
  EXPECT_EQ(item.prompts_excluded, 0);
  EXPECT_TRUE(item.speedup.value);
  EXPECT_TRUE(summary.contradictions.empty());
}

TEST(summary, a_launch_cut_late_keeps_its_prompts_and_excludes_the_others_everywhere) {
  auto truth = accepting({1, 1, 1});
  truth.faults = {{FaultKind::hang, 0, 9, 0}};
  const auto summary = summary_of(tests::run_study(truth, tests::two_arm_plan(12, 3)));
  const auto& item = summary.arms[0].classes[0];
  EXPECT_EQ(item.launches, 3);
  EXPECT_EQ(item.prompts, 9);
  EXPECT_EQ(item.prompts_excluded, 3);
  EXPECT_EQ(item.requests_failed, 1);
  EXPECT_EQ(summary.arms[1].classes[0].prompts, 12);
  EXPECT_EQ(summary.arms[1].classes[0].speedup.n, 9);
}

TEST(summary, greedy_arms_of_one_text_are_lossless) {
  auto truth = accepting({0.7, 0.5});
  auto plan = tests::two_arm_plan(9, 1);
  for (auto& arm : plan.arms) arm.sampling.temp = 0;
  const auto summary = summary_of(tests::run_study(truth, plan));
  ASSERT_TRUE(summary.arms[1].classes[0].lossless);
  EXPECT_EQ(summary.arms[1].classes[0].lossless->says, "equal");
  EXPECT_EQ(summary.arms[1].classes[0].lossless->texts, 9);
  EXPECT_FALSE(summary.arms[0].classes[0].lossless);
}

/// A greedy run of two classes whose drafting arm strays from the text on one of them, and what
/// plain said of it later: a pass of width 4 accounts for margins under 3 x 0.01.
trace::Trace straying_run(double margin) {
  auto truth = accepting({1, 1, 1});
  truth.strays_at = [](const trace::Setup& setup, std::string_view prompt) {
    const bool strays = setup.spec_type != trace::SpecType::none && prompt.starts_with("code-3");
    return strays ? std::optional(11) : std::nullopt;
  };
  auto plan = tests::two_arm_plan(9, 3);
  plan.arms[1].setup.draft_n_max = 3;
  for (const auto& prompt : tests::study_prompts("prose", 9)) plan.prompts.push_back(prompt);
  for (auto& arm : plan.arms) arm.sampling.temp = 0;
  auto trace = tests::run_study(truth, plan);
  trace::Launch launch;
  launch.arm = "plain";
  launch.index = static_cast<int>(trace.launches.size());
  launch.round = plan.rounds;
  launch.rereadings = {{{{4, 1000, 0.01, 0.02}}, {{"code", "code-3", 12, margin}}}};
  trace.launches.push_back(std::move(launch));
  return trace;
}

TEST(summary, an_arm_whose_text_is_wrong_keeps_its_figures_and_loses_every_speedup) {
  const auto summary = summary_of(straying_run(0.5));
  const auto& classes = summary.arms[1].classes;
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].lossless->wrong, 1);
  EXPECT_EQ(classes[0].lossless->equal, 8);
  EXPECT_EQ(classes[1].lossless->verdict, metrics::Verdict::equal);
  for (const auto& item : classes) {
    EXPECT_FALSE(item.speedup.value) << item.workload_class;
    EXPECT_NE(item.speedup.reason.find("its greedy text on code is wrong: first at token 12"),
              std::string::npos)
        << item.speedup.reason;
    EXPECT_TRUE(item.tokens_per_s.value);
    EXPECT_TRUE(item.tokens_per_pass.value);
  }
  EXPECT_EQ(summary.arms[0].launches_done, 3) << "the launch that only read is none of the run's";
}

TEST(summary, an_arm_whose_text_is_a_near_tie_keeps_its_speedup) {
  const auto item = summary_of(straying_run(0.029)).arms[1].classes[0];
  EXPECT_EQ(item.lossless->near_tie, 1);
  EXPECT_TRUE(item.speedup.value);
}

TEST(summary, an_arm_whose_acceptance_was_forced_has_a_pass_cost_and_no_speedup) {
  auto trace = tests::run_study(accepting({1}), tests::two_arm_plan(9, 3));
  ASSERT_TRUE(summary_of(trace).arms[1].classes[0].speedup.value);
  trace.header.arms[1].setup.forced =
      trace::ForcedAcceptance{.length = 2, .schedule = {}, .rates = {}};
  const auto item = summary_of(trace).arms[1].classes[0];
  EXPECT_FALSE(item.speedup.value);
  EXPECT_NE(item.speedup.reason.find("forced"), std::string::npos);
  EXPECT_TRUE(item.pass_cost.value);
  EXPECT_FALSE(item.lossless);
}

TEST(summary, an_arm_that_was_never_launched_is_there_without_figures) {
  auto trace = tests::run_study(accepting({1}), tests::two_arm_plan(9, 1));
  trace.header.arms.push_back(tests::drafting_arm());
  trace.header.arms.back().name = "mtp";
  const auto summary = summary_of(trace);
  ASSERT_EQ(summary.arms.size(), 3u);
  EXPECT_EQ(summary.arms[2].launches_done, 0);
  ASSERT_EQ(summary.arms[2].classes.size(), 1u);
  EXPECT_FALSE(summary.arms[2].classes[0].tokens_per_s.value);
  EXPECT_EQ(summary.arms[2].pat_decode.reason, "class code of the mix was not measured");
}

TEST(summary, an_empty_run_has_an_empty_summary) {
  const auto summary = summary_of({});
  EXPECT_TRUE(summary.arms.empty());
  EXPECT_TRUE(summary.curves.empty());
  EXPECT_TRUE(summary.contradictions.empty());
}

}  // namespace
