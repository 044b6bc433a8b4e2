#include "metrics/fills.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "metrics/sample.hpp"
#include "metrics/summary.hpp"
#include "support/request_builder.hpp"

namespace paceline::metrics {
namespace {

using tests::launch_of;
using tests::RequestBuilder;
using tests::trace_of;

constexpr trace::Nanoseconds second = 1'000'000'000;

/// Of three rounds.
trace::Trace run_of(std::vector<trace::Launch> launches) {
  auto trace = trace_of({"plain"}, std::move(launches));
  trace.header.rounds = 3;
  return trace;
}

trace::FilledDepth filled(int depth, int tokens, trace::Nanoseconds took,
                          trace::Nanoseconds drafter = 0) {
  trace::FilledDepth result;
  result.asked_depth = depth;
  result.fill = trace::Fill{depth, tokens, 5 * second, 5 * second + took, drafter, {}};
  return result;
}

trace::Launch launch(int round, std::vector<trace::FilledDepth> fills) {
  auto result = launch_of("plain", round, {});
  result.fills = std::move(fills);
  return result;
}

TEST(fills, rates_are_those_of_each_part_over_launches) {
  const auto trace =
      run_of({launch(0, {filled(100, 100, second), filled(400, 300, 2 * second, second / 2)}),
              launch(1, {filled(100, 100, 2 * second), filled(400, 300, 2 * second, second)}),
              launch(2, {filled(100, 100, 4 * second), filled(400, 300, 2 * second, 0)})});
  const auto fills = summarise_fills(trace);
  ASSERT_EQ(fills.size(), 2u);
  EXPECT_EQ(fills[0].depth, 100);
  EXPECT_EQ(fills[0].tokens, 100);
  EXPECT_EQ(fills[0].launches, 3);
  EXPECT_NEAR(*fills[0].prefill_tokens_per_s.value, 50, 1e-9);  // 100, 50, 25 on the log scale
  EXPECT_TRUE(fills[0].prefill_tokens_per_s.low);
  EXPECT_EQ(fills[1].tokens, 300);
  EXPECT_NEAR(*fills[1].prefill_tokens_per_s.value, 150, 1e-9);
  EXPECT_FALSE(fills[1].drafter_share) << "plain has no drafter";
  auto drafted = trace;
  drafted.header.arms[0].setup.spec_type = trace::SpecType::draft_mtp;
  EXPECT_NEAR(*summarise_fills(drafted)[1].drafter_share, 0.25, 1e-12);  // 1.5 of 6 s
}

TEST(fills, a_depth_that_was_not_reached_says_why) {
  trace::FilledDepth lost;
  lost.asked_depth = 400;
  lost.outcome = trace::ended(trace::OutcomeKind::refused, "no room");
  const auto fills = summarise_fills(run_of({launch(0, {lost}), launch(1, {lost})}));
  ASSERT_EQ(fills.size(), 1u);
  EXPECT_EQ(fills[0].launches, 0);
  EXPECT_FALSE(fills[0].prefill_tokens_per_s.value);
  EXPECT_FALSE(fills[0].drafter_share);
  EXPECT_EQ(fills[0].failures, std::vector<std::string>{"no room"});
}

trace::Request at(const std::string& workload_class, int depth) {
  auto request = RequestBuilder("a", trace::class_at(workload_class, depth)).plain(10).build();
  request.filled_tokens = depth;
  return request;
}

TEST(fills, classes_at_several_depths_are_apart_and_in_order_and_the_mix_is_of_the_shallowest) {
  const auto trace =
      trace_of({"plain"}, {launch_of("plain", 0,
                                     {at("json", 16384), at("code", 0), at("json", 4096),
                                      at("json", 0), at("code", 4096)})});
  EXPECT_EQ(classes_of(trace),
            (std::vector<std::string>{"code", "code@4096", "json", "json@4096", "json@16384"}));
  const auto mix = equal_mix(trace);
  ASSERT_EQ(mix.classes.size(), 2u);
  EXPECT_EQ(mix.classes.at("json").share, 0.5);
  const auto summary = summarise(trace, mix);
  ASSERT_EQ(summary.arms.at(0).classes.size(), 5u);
  EXPECT_EQ(summary.arms[0].classes[4].workload_class, "json@16384");
  EXPECT_EQ(summary.arms[0].classes[4].filled_tokens, 16384);
}

TEST(fills, names_of_classes_lead_back_to_the_class) {
  EXPECT_EQ(trace::class_at("json", 0), "json");
  EXPECT_EQ(trace::class_at("json", 4096), "json@4096");
  EXPECT_EQ(trace::base_class("json@4096", 4096), "json");
  EXPECT_EQ(trace::base_class("mail@home", 0), "mail@home");
}

}  // namespace
}  // namespace paceline::metrics
