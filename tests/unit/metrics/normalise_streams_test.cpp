#include <gtest/gtest.h>

#include "metrics/counts.hpp"
#include "metrics/groups.hpp"
#include "metrics/normalise.hpp"

// Streams of servers without a clock of their own: bursts by arrival, passes by events.

namespace paceline::metrics {
namespace {

constexpr trace::Nanoseconds ms = 1'000'000;

trace::Chunk event(trace::Nanoseconds arrived_ns, std::optional<long> output_tokens = {}) {
  trace::Chunk chunk;
  chunk.arrived_ns = arrived_ns;
  chunk.content_bytes = 1;
  chunk.output_tokens = output_tokens;
  return chunk;
}

trace::Said said(trace::Quantity quantity, double value) {
  trace::Said said;
  said.quantity = quantity;
  said.value = value;
  return said;
}

/// Of 12 tokens: events of 1, 4, 1, 4 and 2, the last cut by the cap.
trace::Request request(double accepted) {
  trace::Request request;
  request.stop = trace::StopReason::limit;
  long total = 0;
  for (const long tokens : {1, 4, 1, 4, 2}) {
    total += tokens;
    request.chunks.push_back(event(20 * ms * total, total));
  }
  request.answer.emplace();
  request.answer->said = {
      said(trace::Quantity::output_tokens, 12), said(trace::Quantity::accepted, accepted),
      said(trace::Quantity::passes_speculative, 3), said(trace::Quantity::draft_n_max, 3)};
  return request;
}

TEST(Streams, of_a_token_under_a_millisecond_have_a_first_and_a_last_one) {
  // Holds a fault: all was one burst, and there was no time from the first token to the last.
  std::vector<trace::Chunk> chunks;
  for (long i = 0; i < 5; ++i) chunks.push_back(event(i * ms / 2));
  const Groups groups = group_chunks(chunks, 5);
  ASSERT_EQ(groups.list.size(), 2u);
  EXPECT_EQ(groups.list[0].at_ns, 0);
  EXPECT_EQ(groups.list[0].output_tokens, 1);
  EXPECT_EQ(groups.list[1].at_ns, 2 * ms);
  EXPECT_EQ(groups.list[1].output_tokens, 4);
}

TEST(Streams, end_with_the_last_event_of_their_last_burst) {
  const Groups groups =
      group_chunks({event(0, 1), event(20 * ms, 2), event(20 * ms + 600'000, 3)}, 3);
  ASSERT_EQ(groups.list.size(), 2u);
  EXPECT_EQ(groups.list[1].at_ns, 20 * ms + 600'000);
  EXPECT_EQ(groups.list[1].arrived_ns, 20 * ms);
}

TEST(Streams, count_passes_by_events_and_find_what_the_last_draft_lost) {
  // 4 passes accepted 3 + 0 + 3 + 3 and emitted 4 + 1 + 4 + 2: two went past the cap.
  trace::Request one = request(9);
  normalise(one, false);
  EXPECT_EQ(one.tally->passes.value, 4);
  EXPECT_EQ(one.tally->overshoot.value, 2);
  EXPECT_FALSE(one.tally->residual_passes.value);
  EXPECT_EQ(one.tally->residual_passes.reason, "passes were counted once, by events");
}

TEST(Streams, say_nothing_of_overshoot_where_no_draft_can_lose_as_much) {
  trace::Request one = request(11);
  normalise(one, false);
  EXPECT_EQ(one.tally->overshoot.value, std::nullopt);
  ASSERT_EQ(one.answer->oddities.size(), 1u);
  EXPECT_NE(one.answer->oddities[0].find("4 tokens more than came"), std::string::npos);
}

TEST(Streams, with_joined_events_say_how_many_passes_there_were_at_least) {
  for (const std::size_t joined : {1u, 2u}) {
    trace::Request one = request(7);
    one.chunks.erase(one.chunks.begin() + static_cast<std::ptrdiff_t>(joined));
    normalise(one, false);
    EXPECT_EQ(one.tally->passes.value, std::nullopt);
    EXPECT_NE(one.tally->passes.reason.find("at least 4 passes"), std::string::npos)
        << one.tally->passes.reason;
  }
}

TEST(Streams, that_do_not_say_how_far_they_are_leave_passes_unknown_at_a_length_stop) {
  // DEFINITIONS 1: only llama-server's drafts are known to stay inside the cap.
  trace::Request one = request(7);
  for (auto& chunk : one.chunks) chunk.output_tokens.reset();
  normalise(one, false);
  EXPECT_EQ(one.tally->passes.value, std::nullopt);
  EXPECT_EQ(one.tally->overshoot.value, std::nullopt);
  trace::Request plain = request(0);
  for (auto& chunk : plain.chunks) chunk.output_tokens.reset();
  plain.answer->said[2].value = 0;
  normalise(plain, false);
  EXPECT_EQ(plain.tally->passes.value, 11) << "without an accepted draft nothing goes too far";
}

}  // namespace
}  // namespace paceline::metrics
