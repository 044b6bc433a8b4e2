#include "metrics/load.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "metrics/normalise.hpp"
#include "support/request_builder.hpp"
#include "support/served_request.hpp"

namespace paceline::metrics {
namespace {

using tests::closed_cell;
using tests::one_a_second;
using tests::second_ns;
using tests::two_at_once;

/// The cell as a run leaves it: normalised, with what a server's counters moved by.
trace::LoadCell counted(trace::LoadCell cell, double forwards, double tokens) {
  for (auto& request : cell.requests) normalise(request, false);
  cell.counters_before = {{"llamacpp:n_decode_total", 100},
                          {"llamacpp:tokens_predicted_total", 1000}};
  cell.counters_after = {{"llamacpp:n_decode_total", 100 + forwards},
                         {"llamacpp:tokens_predicted_total", 1000 + tokens}};
  cell.client_cpu_s = 0.9;
  cell.lag_p50_s = 0.0001;
  cell.lag_p99_s = 0.001;
  cell.lag_max_s = 0.002;
  return cell;
}

/// Two at once: 16 tokens of which 12 in decode windows, F = 12; 10 forwards in 9 s.
trace::LoadCell usual_cell() { return counted(two_at_once(), 10, 16); }

LoadResults results_of(const std::vector<trace::LoadCell>& launches) {
  std::vector<trace::Launch> list;
  for (const auto& cell : launches) {
    list.push_back(tests::launch_of("plain", static_cast<int>(list.size()), {}));
    list.back().loads.push_back(cell);
  }
  auto trace = tests::trace_of({"plain"}, std::move(list));
  trace.header.rounds = static_cast<int>(launches.size());
  return summarise_loads(trace);
}

LoadSummary summary_of(const std::vector<trace::LoadCell>& launches) {
  return results_of(launches).cells.at(0);
}

TEST(LoadSummary, is_empty_where_one_request_ran_at_a_time) {
  const auto results =
      summarise_loads(tests::trace_of({"plain"}, {tests::launch_of("plain", 0, {})}));
  EXPECT_TRUE(results.cells.empty());
  EXPECT_TRUE(results.crossovers.empty());
}

TEST(LoadSummary, makes_tokens_per_second_of_forwards_sequences_and_tokens_of_a_pass) {
  const auto summary = summary_of({usual_cell()});
  EXPECT_EQ(summary.level, 2);
  EXPECT_EQ(summary.done, 4);
  EXPECT_DOUBLE_EQ(*summary.tokens_per_s.value, 2);  // 12 tokens in the 6 s of the window
  EXPECT_DOUBLE_EQ(*summary.window_s.value, 6);
  EXPECT_EQ(summary.forwards, 10);
  EXPECT_EQ(summary.sequence_passes, 12);
  EXPECT_NEAR(*summary.cell_tokens_per_s.value, 12 / 9.0, 1e-12);
  EXPECT_NEAR(*summary.forwards_per_s.value, 10 / 9.0, 1e-12);
  EXPECT_NEAR(*summary.sequences_per_forward.value, 1.2, 1e-12);
  EXPECT_NEAR(*summary.tokens_per_sequence_pass.value, 1, 1e-12);
  EXPECT_NEAR(*summary.experienced_passes_per_s.value, 1, 1e-12);  // one a second by its clock
  EXPECT_EQ(summary.residual_tokens, 0);
  EXPECT_EQ(summary.residual_passes, 0);
}

TEST(LoadSummary, has_an_interval_from_three_launches_on) {
  const auto one = summary_of({usual_cell()});
  EXPECT_FALSE(one.tokens_per_s.low);
  EXPECT_NE(one.tokens_per_s.reason.find("1 launch"), std::string::npos);
  const auto three = summary_of({usual_cell(), usual_cell(), usual_cell()});
  EXPECT_EQ(three.launches, 3);
  EXPECT_EQ(three.done, 12);
  EXPECT_EQ(three.tokens_per_s.level, "95 % over launches");
  EXPECT_EQ(three.forwards, 30);
}

TEST(LoadSummary, leaves_forwards_unknown_where_the_server_counts_none) {
  auto cell = usual_cell();
  cell.counters_after.erase("llamacpp:n_decode_total");
  const auto summary = summary_of({cell});
  EXPECT_FALSE(summary.forwards.known());
  EXPECT_EQ(summary.forwards.reason(), "the server does not count it, or could not be asked");
  EXPECT_EQ(summary.forwards_per_s.reason, "the server does not count it, or could not be asked");
  EXPECT_FALSE(summary.sequences_per_forward.value);
  EXPECT_EQ(summary.sequence_passes, 12);
  EXPECT_NEAR(*summary.tokens_per_sequence_pass.value, 1, 1e-12);
}

TEST(LoadSummary, leaves_forwards_unknown_where_the_counter_fell) {
  const auto summary = summary_of({counted(two_at_once(), -50, 16)});
  EXPECT_EQ(summary.forwards.reason(), "its counter fell: the server was started again");
}

TEST(LoadSummary, finds_that_passes_do_not_fit_into_the_forwards) {
  const auto results = results_of({counted(two_at_once(), 5, 16)});  // 2 x 5 < 12
  ASSERT_EQ(results.contradictions.size(), 1u);
  EXPECT_NE(results.contradictions[0].find("12 passes of sequences do not fit into 5 forwards"),
            std::string::npos);
  EXPECT_TRUE(results_of({counted(two_at_once(), 6, 16)}).contradictions.empty());
}

TEST(LoadSummary, finds_forwards_that_no_request_of_ours_made) {
  // At most one forward a pass, 12, and one a prompt, 4.
  EXPECT_TRUE(results_of({counted(two_at_once(), 16, 16)}).contradictions.empty());
  const auto results = results_of({counted(two_at_once(), 17, 16)});
  ASSERT_EQ(results.contradictions.size(), 1u);
  EXPECT_NE(results.contradictions[0].find("17 forwards do not go with 12 passes and 4 batches"),
            std::string::npos);
}

TEST(LoadSummary, holds_forwards_against_passes_and_batches_where_one_request_is_in_flight) {
  // Four tokens a request: 3 passes and a batch of the prompt each.
  const auto alone = closed_cell(1, {one_a_second(0, 1, 4), one_a_second(4, 5, 4)});
  EXPECT_TRUE(results_of({counted(alone, 8, 8)}).contradictions.empty());
  EXPECT_EQ(results_of({counted(alone, 7, 8)}).contradictions.size(), 1u);
  EXPECT_EQ(results_of({counted(alone, 9, 8)}).contradictions.size(), 1u);
}

TEST(LoadSummary, finds_tokens_that_the_server_counted_and_nobody_received) {
  const auto results = results_of({counted(two_at_once(), 10, 19)});
  EXPECT_EQ(results.cells[0].residual_tokens, 3);
  ASSERT_EQ(results.contradictions.size(), 1u);
  EXPECT_NE(results.contradictions[0].find("counted 3 tokens more than arrived"),
            std::string::npos);
}

TEST(LoadSummary, counts_failures_and_says_nothing_of_passes_then) {
  auto cell = usual_cell();
  cell.requests[3].outcome.kind = trace::OutcomeKind::failed;
  const auto summary = summary_of({cell});
  EXPECT_EQ(summary.done, 3);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_FALSE(summary.sequence_passes.known());
  EXPECT_FALSE(summary.residual_tokens.known());
  EXPECT_FALSE(summary.cell_tokens_per_s.value);
  // What arrived of it did arrive.
  EXPECT_DOUBLE_EQ(*summary.tokens_per_s.value, 2);
}

TEST(LoadSummary, gives_no_rate_and_no_latency_where_the_client_was_late) {
  auto cell = usual_cell();
  cell.lag_p99_s = 0.0051;
  const auto summary = summary_of({usual_cell(), cell});
  EXPECT_EQ(summary.refusal,
            "the client was the bottleneck: its 99th percentile of lag is over 5 ms");
  for (const auto* figure :
       {&summary.tokens_per_s, &summary.cell_tokens_per_s, &summary.forwards_per_s,
        &summary.experienced_passes_per_s, &summary.ttft_p50_s, &summary.inter_burst_p50_s}) {
    EXPECT_FALSE(figure->value);
    EXPECT_EQ(figure->reason, summary.refusal);
  }
  EXPECT_TRUE(summary.by_round.empty());
  EXPECT_EQ(summary.sequence_passes, 24);  // counts do not depend on how fast the client was
}

TEST(LoadSummary, gives_no_rate_where_the_client_took_most_of_a_core) {
  auto cell = usual_cell();
  cell.client_cpu_s = 6.4;  // of 9 s: 71 %
  EXPECT_EQ(summary_of({cell}).refusal,
            "the client was the bottleneck: it took over 70 % of a core");
  cell.client_cpu_s = 6.2;  // 69 %
  EXPECT_EQ(summary_of({cell}).refusal, "");
}

TEST(LoadSummary, pools_latencies_over_launches) {
  // 20 requests one at a time, due every 10 s, of which the last waits 5 s and the others 1 s.
  std::vector<trace::Request> requests;
  for (int i = 0; i < 20; ++i)
    requests.push_back(one_a_second(10 * i, 10 * i + (i == 19 ? 5 : 1), 3));
  auto cell = closed_cell(1, requests);
  cell.ended_ns = 200 * second_ns;
  const auto summary = summary_of({counted(cell, 60, 60)});
  EXPECT_DOUBLE_EQ(*summary.ttft_p50_s.value, 1);
  EXPECT_DOUBLE_EQ(*summary.ttft_p95_s.value, 1);  // the 19th of 20
  EXPECT_FALSE(summary.ttft_p99_s.value);
  EXPECT_EQ(summary.ttft_p99_s.reason, "too few: 20 values, a percentile of 99 needs 100");
  EXPECT_DOUBLE_EQ(*summary.inter_burst_p50_s.value, 1);
}

TEST(Percentile, is_the_nearest_rank) {
  std::vector<double> values(100);
  std::iota(values.rbegin(), values.rend(), 1.0);
  EXPECT_DOUBLE_EQ(*percentile(values, 0.5).value, 50);
  EXPECT_DOUBLE_EQ(*percentile(values, 0.95).value, 95);
  EXPECT_DOUBLE_EQ(*percentile(values, 0.99).value, 99);
  EXPECT_FALSE(percentile({}, 0.5).value);
}

trace::Trace two_arms(long offered) {
  std::vector<trace::Launch> launches;
  for (int round = 0; round < 3; ++round)
    for (const char* arm : {"plain", "mtp"}) {
      launches.push_back(tests::launch_of(arm, round, {}));
      launches.back().loads.push_back(usual_cell());
      if (std::string(arm) == "mtp")
        for (auto& request : launches.back().loads[0].requests) {
          request.tally->offered.value = offered;
          for (auto& chunk : request.chunks) chunk.arrived_ns *= 2;  // half as fast
        }
    }
  auto trace = tests::trace_of({"plain", "mtp"}, std::move(launches));
  trace.header.rounds = 3;
  return trace;
}

TEST(LoadCrossover, compares_an_arm_with_plain_at_the_same_level) {
  const auto results = summarise_loads(two_arms(25));  // 25 x 4 requests x 3 launches
  ASSERT_EQ(results.crossovers.size(), 1u);
  EXPECT_EQ(results.crossovers[0].arm, "mtp");
  EXPECT_EQ(results.crossovers[0].level, 2);
  EXPECT_NEAR(*results.crossovers[0].levels.at(0).ratio.value, 0.5, 1e-9);
}

TEST(LoadCrossover, is_not_made_of_a_handful_of_draft_tokens) {
  const auto results = summarise_loads(two_arms(8));  // 96 in all
  EXPECT_EQ(results.crossovers.at(0).levels.at(0).ratio.reason,
            "only 96 draft tokens offered, under 100: no comparison");
}

}  // namespace
}  // namespace paceline::metrics
