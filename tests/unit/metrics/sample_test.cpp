#include "metrics/sample.hpp"

#include <gtest/gtest.h>

#include "metrics/summary.hpp"
#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::collect;
using metrics::counted_launches;
using metrics::Counts;
using metrics::mean_per_token;
using metrics::pooled_ratio;
using metrics::Sample;
using metrics::shared_part;
using tests::launch_of;
using tests::RequestBuilder;
using tests::trace_of;

trace::Request plain_request(const std::string& id, int passes, int ms) {
  RequestBuilder builder(id);
  for (int i = 0; i < passes; ++i) builder.plain(ms);
  return builder.build();
}

trace::Request lost_request(const std::string& id) {
  auto request = plain_request(id, 2, 10);
  request.outcome.kind = trace::OutcomeKind::crashed;
  return request;
}

double seconds(const Counts& counts) { return counts.decode_s; }
double tokens(const Counts& counts) { return static_cast<double>(counts.decode_tokens); }

std::vector<const trace::Launch*> all_launches(const trace::Trace& trace) {
  std::vector<const trace::Launch*> launches;
  for (const auto& launch : trace.launches) launches.push_back(&launch);
  return launches;
}

TEST(sample, only_prompts_that_every_launch_has_count_and_the_others_are_counted_out) {
  const auto trace = trace_of(
      {"plain"},
      {launch_of("plain", 0, {plain_request("a", 2, 10), plain_request("b", 2, 10)}),
       launch_of("plain", 1,
                 {plain_request("a", 2, 10), lost_request("b"), plain_request("c", 2, 10)})});
  const auto sample = collect(all_launches(trace), "code");
  ASSERT_EQ(sample.prompts.size(), 1u);
  EXPECT_EQ(sample.prompts[0].prompt_id, "a");
  EXPECT_EQ(sample.prompts_excluded, 2);
  EXPECT_EQ(sample.requests_failed, 1);
  EXPECT_EQ(sample.pooled().requests, 2);
}

TEST(sample, a_prompt_whose_output_is_one_token_has_no_rate_and_is_left_out) {
  const auto trace = trace_of({"plain"}, {launch_of("plain", 0, {plain_request("a", 0, 10)})});
  const auto sample = collect(all_launches(trace), "code");
  EXPECT_TRUE(sample.prompts.empty());
  EXPECT_EQ(sample.prompts_excluded, 1);
  EXPECT_EQ(sample.requests_failed, 0);
}

TEST(sample, warm_up_and_synced_requests_never_count) {
  auto warm_up = plain_request("a", 5, 10);
  warm_up.warm_up = true;
  auto synced = plain_request("a", 7, 10);
  synced.synced = true;
  auto other_class = plain_request("a", 9, 10);
  other_class.workload_class = "prose";
  const auto trace =
      trace_of({"plain"},
               {launch_of("plain", 0, {warm_up, plain_request("a", 2, 10), synced, other_class})});
  EXPECT_EQ(collect(all_launches(trace), "code").pooled().decode_tokens, 2);
  EXPECT_EQ(metrics::classes_of(trace), (std::vector<std::string>{"code", "prose"}));
}

TEST(sample, a_lost_launch_counts_only_with_half_of_the_prompts_done) {
  const std::vector<trace::Request> four{plain_request("a", 2, 10), plain_request("b", 2, 10),
                                         plain_request("c", 2, 10), plain_request("d", 2, 10)};
  auto half = launch_of("plain", 1, {four[0], four[1], lost_request("c")});
  half.outcome.kind = trace::OutcomeKind::crashed;
  auto less = launch_of("plain", 2, {four[0], lost_request("b")});
  less.outcome.kind = trace::OutcomeKind::crashed;
  auto probes_only = launch_of("plain", 3, {});
  const auto trace = trace_of({"plain"}, {launch_of("plain", 0, four), half, less, probes_only});
  const auto counted = counted_launches(trace, "plain");
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[0]->round, 0);
  EXPECT_EQ(counted[1]->round, 1);
}

TEST(sample, a_launch_that_ended_well_counts_however_many_of_its_requests_failed) {
  const auto trace = trace_of(
      {"plain"},
      {launch_of("plain", 0,
                 {plain_request("a", 2, 10), plain_request("b", 2, 10), plain_request("c", 2, 10)}),
       launch_of("plain", 1, {plain_request("a", 2, 10), lost_request("b"), lost_request("c")})});
  EXPECT_EQ(counted_launches(trace, "plain").size(), 2u);
}

TEST(sample, repetitions_of_a_prompt_are_pooled_into_one_cell) {
  auto again = plain_request("a", 3, 20);
  again.repetition = 1;
  const auto trace =
      trace_of({"plain"}, {launch_of("plain", 0, {plain_request("a", 2, 10), again})});
  const auto sample = collect(all_launches(trace), "code");
  ASSERT_EQ(sample.prompts.size(), 1u);
  EXPECT_EQ(sample.prompts[0].launches[0].decode_tokens, 5);
  EXPECT_DOUBLE_EQ(sample.prompts[0].launches[0].decode_s, 0.08);
}

TEST(sample, prompts_weigh_the_same_however_many_tokens_they_made) {
  // 10 tokens at 0.1 s and 2 tokens at 0.3 s each: the mean is 0.2 s, not 1.6 / 12.
  const auto trace =
      trace_of({"plain"},
               {launch_of("plain", 0, {plain_request("a", 10, 100), plain_request("b", 2, 300)})});
  const auto figure = mean_per_token(collect(all_launches(trace), "code"), seconds);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->value, 0.2, 1e-12);
}

TEST(sample, deviations_of_a_mean_are_relative_and_sum_to_nothing) {
  // s_a = 0.1 with launches 0.08 and 0.12; s_b = 0.3 with 0.3 and 0.3; mean 0.2.
  const auto trace = trace_of(
      {"plain"}, {launch_of("plain", 0, {plain_request("a", 4, 80), plain_request("b", 4, 300)}),
                  launch_of("plain", 1, {plain_request("a", 4, 120), plain_request("b", 4, 300)})});
  const auto figure = mean_per_token(collect(all_launches(trace), "code"), seconds);
  const auto& grid = figure->deviations;
  ASSERT_EQ(grid.units, 2u);
  EXPECT_NEAR(grid.at(0, 0), 0.08 / 0.2 - 1, 1e-12);
  EXPECT_NEAR(grid.at(0, 1), 0.12 / 0.2 - 1, 1e-12);
  EXPECT_NEAR(grid.at(1, 0), 0.3 / 0.2 - 1, 1e-12);
  EXPECT_NEAR(grid.at(1, 1), 0.3 / 0.2 - 1, 1e-12);
}

TEST(sample, a_launch_with_fewer_tokens_of_a_prompt_moves_its_mean_by_less) {
  // 6 tokens at 0.1 s and 2 at 0.3 s: s = 1.2 / 8 = 0.15, mean tokens 4.
  // Cells: 0.15 + (0.6 - 0.9) / 4 = 0.075 and 0.15 + (0.6 - 0.3) / 4 = 0.225.
  const auto trace = trace_of({"plain"}, {launch_of("plain", 0, {plain_request("a", 6, 100)}),
                                          launch_of("plain", 1, {plain_request("a", 2, 300)})});
  const auto figure = mean_per_token(collect(all_launches(trace), "code"), seconds);
  EXPECT_NEAR(figure->value, 0.15, 1e-12);
  EXPECT_NEAR(figure->deviations.at(0, 0), -0.5, 1e-12);
  EXPECT_NEAR(figure->deviations.at(0, 1), 0.5, 1e-12);
}

TEST(sample, twelve_prompts_of_equal_output_in_six_families_are_worth_six) {
  std::vector<trace::Request> requests;
  for (int i = 0; i < 12; ++i) {
    requests.push_back(plain_request("p" + std::to_string(i), 4, 100));
    requests.back().family = "f" + std::to_string(i / 2);
  }
  const auto trace = trace_of({"plain"}, {launch_of("plain", 0, requests)});
  const auto sample = collect(all_launches(trace), "code");
  // Six families of 10 tokens: 60^2 / (6 * 10^2).
  EXPECT_DOUBLE_EQ(sample.n_eff(), 6);
  EXPECT_EQ(sample.families(), 6u);
  EXPECT_EQ(sample.prompts.size(), 12u);
  // Six units are under the eight that an interval needs, whatever n_eff allows.
  const auto summary = metrics::summarise(trace, metrics::equal_mix(trace));
  const auto& item = summary.arms[0].classes[0];
  EXPECT_EQ(item.families, 6);
  EXPECT_FALSE(item.tokens_per_s.low);
  EXPECT_EQ(item.tokens_per_s.reason, "too few: 6 independent prompts, an interval needs 8");
}

TEST(sample, prompts_that_copy_their_family_leave_its_interval_as_it_is) {
  // Eight prompts against the same eight twice over, twins in a family: nothing was learned.
  std::vector<trace::Request> once;
  std::vector<trace::Request> twice;
  for (int i = 0; i < 8; ++i) {
    once.push_back(plain_request("p" + std::to_string(i), 4, 100 + 10 * i));
    for (const char* twin : {"a", "b"}) {
      twice.push_back(once.back());
      twice.back().prompt_id += twin;
      twice.back().family = once.back().prompt_id;
    }
  }
  const auto rate = [](const std::vector<trace::Request>& requests) {
    const auto trace = trace_of({"plain"}, {launch_of("plain", 0, requests)});
    return metrics::summarise(trace, metrics::equal_mix(trace)).arms[0].classes[0].tokens_per_s;
  };
  EXPECT_NEAR(*rate(twice).low, *rate(once).low, 1e-9);
  EXPECT_NEAR(*rate(twice).high, *rate(once).high, 1e-9);
  EXPECT_EQ(rate(twice).n, 8);
}

TEST(sample, prompts_of_one_family_are_one_unit) {
  auto first = plain_request("a", 4, 100);
  auto second = plain_request("b", 4, 200);
  auto third = plain_request("c", 4, 300);
  first.family = second.family = "twins";
  const auto trace = trace_of({"plain"}, {launch_of("plain", 0, {first, second, third})});
  const auto sample = collect(all_launches(trace), "code");
  EXPECT_EQ(sample.units(), (std::vector<std::size_t>{0, 0, 1}));
  // Tokens 10 (two outputs of 5) and 5: 225 / 125.
  EXPECT_DOUBLE_EQ(sample.n_eff(), 1.8);
  const auto figure = mean_per_token(sample, seconds);
  ASSERT_EQ(figure->deviations.units, 2u);
  EXPECT_NEAR(figure->value, 0.2, 1e-12);
  // Weight 2 units / 3 prompts of (0.1 / 0.2 - 1) + (0.2 / 0.2 - 1), and of 0.3 / 0.2 - 1.
  EXPECT_NEAR(figure->deviations.at(0, 0), -1.0 / 3, 1e-12);
  EXPECT_NEAR(figure->deviations.at(1, 0), 1.0 / 3, 1e-12);
}

TEST(sample, a_pooled_ratio_is_of_sums_and_its_deviations_are_those_of_its_log) {
  // 0.8 s and 0.6 s over 8 and 2 tokens: 1.4 / 10. Cells: 2 (T - 0.14 n) / 1.4.
  const auto trace = trace_of(
      {"plain"}, {launch_of("plain", 0, {plain_request("a", 8, 100), plain_request("b", 2, 300)})});
  const auto figure = pooled_ratio(collect(all_launches(trace), "code"), seconds, tokens);
  ASSERT_TRUE(figure);
  EXPECT_NEAR(figure->value, 0.14, 1e-12);
  EXPECT_NEAR(figure->deviations.at(0, 0), 2 * (0.8 - 1.12) / 1.4, 1e-12);
  EXPECT_NEAR(figure->deviations.at(1, 0), 2 * (0.6 - 0.28) / 1.4, 1e-12);
}

TEST(sample, a_ratio_over_nothing_is_absent_and_a_ratio_of_nothing_is_zero) {
  const auto zero = [](const Counts&) { return 0.0; };
  const auto trace = trace_of({"plain"}, {launch_of("plain", 0, {plain_request("a", 2, 100)})});
  const auto sample = collect(all_launches(trace), "code");
  EXPECT_FALSE(pooled_ratio(sample, tokens, zero));
  EXPECT_EQ(pooled_ratio(sample, zero, tokens)->value, 0);
  EXPECT_FALSE(mean_per_token(sample, zero));
  EXPECT_FALSE(mean_per_token({}, seconds));
}

TEST(sample, the_shared_part_pairs_launches_by_round_and_keeps_common_prompts) {
  // This arm ran round 2 before round 0 and lacks round 1; the other lacks round 0's twin.
  const auto trace =
      trace_of({"plain", "dflash"},
               {launch_of("plain", 2, {plain_request("a", 2, 30), plain_request("b", 2, 30)}),
                launch_of("plain", 0, {plain_request("a", 2, 10), plain_request("b", 2, 10)}),
                launch_of("dflash", 0, {plain_request("b", 2, 5), plain_request("c", 2, 5)}),
                launch_of("dflash", 1, {plain_request("b", 2, 6), plain_request("c", 2, 6)}),
                launch_of("dflash", 2, {plain_request("b", 2, 7), plain_request("c", 2, 7)})});
  const auto plain = collect(counted_launches(trace, "plain"), "code");
  const auto dflash = collect(counted_launches(trace, "dflash"), "code");
  const auto first = shared_part(plain, dflash);
  const auto second = shared_part(dflash, first);
  EXPECT_EQ(first.rounds, (std::vector<int>{0, 2}));
  EXPECT_EQ(second.rounds, first.rounds);
  ASSERT_EQ(first.prompts.size(), 1u);
  ASSERT_EQ(second.prompts.size(), 1u);
  EXPECT_DOUBLE_EQ(first.prompts[0].launches[0].decode_s, 0.02);
  EXPECT_DOUBLE_EQ(first.prompts[0].launches[1].decode_s, 0.06);
  EXPECT_DOUBLE_EQ(second.prompts[0].launches[1].decode_s, 0.014);
}

}  // namespace
