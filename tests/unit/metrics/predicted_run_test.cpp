#include "metrics/predicted_run.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "metrics/summary.hpp"

namespace paceline::metrics {
namespace {

constexpr trace::Nanoseconds ms = 1'000'000;

trace::Pass pass_of(int width, int attempts, trace::Nanoseconds took) {
  trace::Pass pass;
  pass.kind = width > 1 ? trace::PassKind::speculative : trace::PassKind::plain;
  pass.width = width;
  pass.attempts = attempts;
  pass.offered = width - 1;
  pass.ended_ns = took;
  return pass;
}

/// A request that passes were timed with.
trace::Request timed(std::vector<trace::Pass> passes, std::optional<trace::Drafting> drafting) {
  trace::Request request;
  request.prompt_id = "a";
  request.workload_class = "x";
  request.drafting = drafting;
  request.passes = std::move(passes);
  return request;
}

/// Six tokens; behind the first the drafter has one right, behind the third two.
trace::DraftMap map_of_six(trace::MapKind kind = trace::MapKind::one_ask) {
  trace::DraftMap map;
  map.workload_class = "x";
  map.prompt_id = "a";
  map.kind = kind;
  map.prompt_tokens = 4;
  map.tokens = {1, 2, 3, 4, 5, 6};
  map.asks = {{{2, 0}, {0, 1, 2, 3, 4}, {2, 2, 2, 2, 2}, {1, 0, 2, 0, 0}}};
  return map;
}

trace::Trace mapped(int rounds) {
  trace::Trace trace;
  trace.header.rounds = rounds;
  trace.header.n_predict = 6;
  trace.header.residency = "bare";
  trace.header.arms.resize(2);
  trace.header.arms[0].name = "plain";
  trace.header.arms[1].name = "d";
  trace.header.arms[1].setup.spec_type = trace::SpecType::draft_mtp;
  trace.launches.resize(3);
  trace.launches[0].arm = trace.launches[2].arm = "d";
  trace.launches[1].arm = "plain";
  trace.launches[0].round = rounds;  // past all rounds: the map is made there
  trace.launches[0].maps = {map_of_six()};
  for (auto& launch : trace.launches) launch.facts = trace::EngineFacts{};
  trace.launches[1].requests = {timed({pass_of(1, 0, 10 * ms), pass_of(1, 0, 12 * ms)}, {})};
  trace.launches[2].requests = {
      timed({pass_of(3, 1, 30 * ms), pass_of(3, 1, 34 * ms), pass_of(1, 0, 13 * ms)}, {{2, 0}}),
      timed({pass_of(2, 1, 20 * ms)}, {{1, 0}})};
  return trace;
}

trace::Nanoseconds end_of(const PredictedRun& run, const std::string& arm) {
  for (const auto& launch : run.trace.launches)
    if (launch.arm == arm) return launch.requests.at(0).emissions.back().at_ns;
  return -1;
}

TEST(PredictedRun, every_pass_takes_what_passes_of_its_width_took_where_the_arm_drafted_so) {
  const auto run = predict_run(mapped(1));
  EXPECT_TRUE(run.has_times);
  ASSERT_EQ(run.arms.size(), 3u);
  EXPECT_EQ(run.arms[0].name, "d-n1");
  EXPECT_EQ(run.arms[1].name, "d-n2");
  EXPECT_EQ(run.arms[2].name, "d-oracle");
  EXPECT_EQ(end_of(run, "plain"), 5 * 11 * ms);
  // Length 2: behind token 0 one of two (32 ms), behind 2 both (32 ms), and no more to come.
  EXPECT_EQ(end_of(run, "d-n2"), 2 * 32 * ms);
  // Length 1: 0 -> 2 -> 4 in 20 ms each, then a pass without a draft, as near as was timed.
  EXPECT_EQ(end_of(run, "d-n1"), 3 * 20 * ms);
  // One of one twice and the last token without a draft, which costs 11 ms as on the plain arm.
  EXPECT_EQ(end_of(run, "d-oracle"), (20 + 20 + 11) * ms);
}

// Length 1 takes 20 ms and 2 takes 36 in every launch, but for the luck of 10 in the first: knowing
// only the second one, 36 + 36 is chosen no more than 20 + 20 + 11 there.
TEST(PredictedRun, an_oracle_is_chosen_by_the_times_of_the_other_launches) {
  auto trace = mapped(2);
  EXPECT_TRUE(predict_run(mapped(1)).has_lucky_oracle);
  auto& lucky = trace.launches[2];
  lucky.requests = {timed({pass_of(3, 1, 10 * ms)}, {{2, 0}}),
                    timed({pass_of(2, 1, 20 * ms)}, {{1, 0}})};
  trace.launches.push_back(lucky);
  trace.launches.back().round = 1;
  trace.launches.back().requests[0].passes[0].ended_ns = 36 * ms;
  trace.launches.push_back(trace.launches[1]);
  trace.launches.back().round = 1;
  const auto run = predict_run(trace);
  EXPECT_FALSE(run.has_lucky_oracle);
  std::vector<trace::Nanoseconds> ends;
  for (const auto& launch : run.trace.launches)
    if (launch.arm == "d-oracle") ends.push_back(launch.requests.at(0).emissions.back().at_ns);
  // The second launch believes the first one and pays 36 ms twice; alone, each would have 20
  // and 51.
  EXPECT_EQ(ends, (std::vector<trace::Nanoseconds>{(20 + 20 + 11) * ms, 2 * 36 * ms}));
}

TEST(PredictedRun, a_width_that_was_not_timed_takes_what_the_nearest_one_took) {
  auto trace = mapped(1);
  trace.launches[2].requests[0] = timed({pass_of(1, 1, 9 * ms), pass_of(4, 1, 40 * ms)}, {{2, 0}});
  EXPECT_EQ(end_of(predict_run(trace), "d-n2"), 2 * 40 * ms);
}

TEST(PredictedRun, its_figures_are_those_of_a_run) {
  const auto run = predict_run(mapped(1));
  const auto summary = summarise(run.trace, equal_mix(run.trace));
  ASSERT_EQ(summary.arms.size(), 4u);
  const auto& way = summary.arms[2].classes.at(0);
  EXPECT_NEAR(*way.tokens_per_pass.value, 5.0 / 2, 1e-9);
  EXPECT_NEAR(*way.tokens_per_s.value, 5 / 0.064, 1e-6);
  EXPECT_EQ(way.counts.accepted, 3);
  EXPECT_EQ(way.counts.residual_passes, 0);
}

TEST(PredictedRun, without_times_every_pass_counts_the_same) {
  auto trace = mapped(0);
  trace.launches.resize(1);
  const auto run = predict_run(trace);
  EXPECT_FALSE(run.has_times);
  EXPECT_EQ(end_of(run, "d-n2"), 2000 * ms);
  EXPECT_EQ(end_of(run, "d-oracle"), 2000 * ms);
}

TEST(PredictedRun, an_arm_of_which_nothing_was_timed_has_no_launch_and_no_oracle_is_made_of_it) {
  auto trace = mapped(1);
  trace.launches[2].requests.pop_back();  // length 1 was never timed
  auto run = predict_run(trace);
  EXPECT_EQ(end_of(run, "d-n1"), -1);
  EXPECT_EQ(end_of(run, "d-oracle"), (11 + 11 + 32) * ms);
  trace.launches[2].requests.clear();
  run = predict_run(trace);
  EXPECT_EQ(end_of(run, "d-n2"), -1);
  EXPECT_EQ(end_of(run, "d-oracle"), -1);
}

TEST(PredictedRun, a_text_that_could_not_be_mapped_is_in_no_figure) {
  auto trace = mapped(1);
  trace.launches[0].maps.push_back({});
  trace.launches[0].maps.back().reason = "the prompt is too long";
  for (const auto& launch : predict_run(trace).trace.launches)
    EXPECT_EQ(launch.requests.size(), 1u) << launch.arm;
}

/// A request along the whole text that made these passes, with the text as its output.
trace::Request followed(std::vector<std::pair<int, int>> offered_and_accepted) {
  trace::Request request = timed({}, {{2, 0}});
  int depth = 4;
  for (const auto& [offered, accepted] : offered_and_accepted) {
    trace::Pass pass = pass_of(offered + 1, 1, ms);
    pass.accepted = accepted;
    pass.depth = depth;
    depth += accepted + 1;
    request.passes.push_back(pass);
  }
  request.emissions.resize(1);
  request.emissions[0].tokens = {1, 2, 3, 4, 5, 6};
  return request;
}

TEST(MapCheck, a_request_along_a_mapped_text_has_to_make_the_maps_passes) {
  auto trace = mapped(1);
  trace.launches[2].requests = {followed({{2, 1}, {2, 2}}), followed({{2, 0}, {2, 0}, {2, 2}}),
                                followed({{2, 1}})};
  const auto check = check_map(trace);
  EXPECT_EQ(check.requests, 3);
  EXPECT_EQ(check.requests_equal, 1);
  EXPECT_EQ(check.passes, 6);
  ASSERT_EQ(check.differences.size(), 2u);
  EXPECT_NE(check.differences[0].find("pass 1 at depth 4"), std::string::npos);
  EXPECT_NE(check.differences[1].find("pass 2"), std::string::npos);
}

}  // namespace
}  // namespace paceline::metrics
