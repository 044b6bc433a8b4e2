#include "document/fills.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

using ::testing::HasSubstr;

trace::FilledDepth filled(int depth, std::uint64_t pss) {
  trace::FilledDepth result;
  result.asked_depth = depth;
  result.fill = trace::Fill{depth, depth, 0, 1'000'000'000, 0, {1, 77, 3, 4}};
  result.reading = trace::MemoryReading{trace::MemoryMoment::after_fill, pss, "", {}, {}};
  return result;
}

TEST(Fills, memory_after_a_fill_is_known_once_the_context_is_full) {
  auto trace = support::sample_trace();
  const int n_ctx = trace.launches[0].facts->n_ctx;
  EXPECT_THAT(memory_after_fill(trace).reason, HasSubstr("not filled"));
  trace.launches[0].fills = {filled(n_ctx / 2, 500)};
  EXPECT_FALSE(memory_after_fill(trace).value);
  EXPECT_THAT(memory_after_fill(trace).reason,
              HasSubstr(std::to_string(n_ctx / 2) + " of its " + std::to_string(n_ctx)));
  trace.launches[0].fills.push_back(filled(n_ctx - n_ctx / 20, 900));
  EXPECT_EQ(memory_after_fill(trace).value, 900u);
}

TEST(Fills, have_the_memory_of_the_first_launch_that_reached_the_depth) {
  auto trace = support::sample_trace();
  const std::size_t next_round = trace.header.arms.size();
  trace.launches[0].fills = {filled(100, 500)};
  trace.launches[0].fills[0].fill.reset();
  trace.launches[0].fills[0].outcome = trace::ended(trace::OutcomeKind::refused, "no room");
  trace.launches[next_round].fills = {filled(100, 600)};
  metrics::Summary summary;
  summary.fills = metrics::summarise_fills(trace);
  const auto fills = to_fills(trace, summary);
  ASSERT_EQ(fills.size(), 1u);
  EXPECT_EQ(fills[0].context_bytes.value, 77u);
  EXPECT_EQ(fills[0].pss_bytes.value, 600u);
  EXPECT_EQ(fills[0].unaccounted_bytes.value, 600 - (1 + 77 + 3));
  EXPECT_NEAR(*fills[0].prefill_tokens_per_s.value, 100, 1e-9);
  EXPECT_EQ(fills[0].failures, std::vector<std::string>{"no room"});
}

}  // namespace
}  // namespace paceline::document
