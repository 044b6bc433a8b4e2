#include "metrics/normalise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/contradictions.hpp"
#include "metrics/counts.hpp"

namespace paceline::metrics {
namespace {

using trace::Quantity;

/// A llama-server's stream, written as its source does: one event a token, those of a pass with
/// one predicted_ms, draft_n and draft_n_accepted as running totals.
class Stream {
 public:
  Stream() {
    request_.answer.emplace();
    request_.answer->endpoint = "/completion";
    request_.stop = trace::StopReason::limit;
    group(1);
  }

  /// A pass that offered and accepted so many, and `tokens` that came of it.
  Stream& pass(int offered, int accepted, int tokens) {
    ms_ += 10;
    offered_ += offered;
    accepted_ += accepted;
    return group(tokens);
  }
  /// The next token has no event of its own: its character was not complete.
  Stream& hidden() {
    ++tokens_;
    return *this;
  }
  Stream& say(Quantity quantity, double value, const char* endpoint = "/completion",
              const char* field = "field") {
    request_.answer->said.push_back({quantity, value, {}, endpoint, field, ""});
    return *this;
  }
  Stream& ends_by(trace::StopReason stop) {
    request_.stop = stop;
    return *this;
  }
  /// The final event's totals, as they stand.
  Stream& finish() {
    say(Quantity::output_tokens, static_cast<double>(tokens_));
    if (offered_ == 0) return *this;
    say(Quantity::offered, static_cast<double>(offered_));
    return say(Quantity::accepted, static_cast<double>(accepted_));
  }
  /// Decode calls by the server's counter, of which so many were the prompt's.
  Stream& decodes(double calls, int of_prompt) {
    request_.answer->prompt_batches = of_prompt;
    return say(Quantity::decodes, calls, "/metrics", "llamacpp:n_decode_total");
  }
  trace::Request build(bool declared_plain = false) const {
    auto request = request_;
    normalise(request, declared_plain);
    return request;
  }

 private:
  Stream& group(int tokens) {
    for (int i = 0; i < tokens; ++i) {
      ++tokens_;
      trace::Chunk chunk;
      chunk.arrived_ns = 1'000'000 * tokens_;
      chunk.content_bytes = 1;
      chunk.tokens = {static_cast<std::int32_t>(100 + tokens_)};
      chunk.output_tokens = tokens_;
      chunk.decode_ms = ms_;
      if (offered_ > 0) {
        chunk.offered = offered_;
        chunk.accepted = accepted_;
      }
      request_.chunks.push_back(chunk);
    }
    return *this;
  }

  trace::Request request_;
  long tokens_ = 0;
  long offered_ = 0;
  long accepted_ = 0;
  double ms_ = 0.001;
};

Counts counts_of(const trace::Request& request) {
  const auto counts = count_request(request);
  EXPECT_TRUE(counts);
  return counts.value_or(Counts{});
}

std::vector<std::string> found_in(const trace::Request& request) {
  trace::Trace trace;
  trace.header.arms.push_back({"mtp", {}, {}});
  trace.launches.emplace_back();
  trace.launches[0].arm = "mtp";
  trace.launches[0].requests.push_back(request);
  return find_contradictions(trace);
}

TEST(Normalise, groups_of_one_server_time_are_passes_and_the_first_is_prefills) {
  // 1 token by prefill, then 3/2 -> 3 tokens, a pass without a draft -> 1, 3/0 -> 1: E = 6.
  const auto request = Stream().pass(3, 2, 3).pass(0, 0, 1).pass(3, 0, 1).finish().build();
  const auto counts = counts_of(request);
  EXPECT_EQ(counts.output_tokens, 6);
  EXPECT_EQ(counts.passes, 3);
  EXPECT_EQ(counts.passes_speculative, 2);
  EXPECT_EQ(counts.passes_plain, 1);
  EXPECT_EQ(counts.offered, 6);
  EXPECT_EQ(counts.accepted, 2);
  EXPECT_EQ(counts.tested, 4) << "2 accepted and the third rejected; then the first rejected";
  EXPECT_EQ(counts.residual_passes, 0);
  EXPECT_DOUBLE_EQ(counts.decode_s, 0.03);
  EXPECT_EQ(request.emissions.size(), 4u);
  EXPECT_TRUE(found_in(request).empty());
}

TEST(Normalise, an_accepted_draft_too_many_turns_the_residual_and_is_named) {
  // The same three passes, of which the second is said to have accepted 3 of 3 and made 3 tokens.
  const auto request = Stream().pass(3, 3, 3).pass(0, 0, 1).pass(3, 0, 1).finish().build();
  // F = 3 by groups; E - 1 - A = 5 - 3 = 2.
  EXPECT_EQ(counts_of(request).residual_passes, 1);
  EXPECT_THAT(found_in(request), testing::Contains(testing::HasSubstr("residual_passes is 1")));
}

TEST(Normalise,
     two_tokens_more_than_were_accepted_may_be_a_replay_so_groups_alone_give_no_residual) {
  const auto request = Stream().pass(3, 1, 3).pass(3, 3, 4).finish().build();
  const auto counts = counts_of(request);
  EXPECT_EQ(counts.passes, 3) << "E - 1 - A = 7 - 4";
  EXPECT_FALSE(counts.residual_passes.known());
  EXPECT_THAT(counts.residual_passes.reason(), testing::HasSubstr("replays"));
  EXPECT_EQ(counts.passes_replay, 1);
}

TEST(Normalise, decode_calls_give_the_replays_and_a_third_count) {
  // 5 calls, 2 of them for the prompt: F = 3, two groups, so one verify was decoded again.
  const auto request = Stream().pass(3, 1, 3).pass(3, 3, 4).finish().decodes(5, 2).build();
  const auto counts = counts_of(request);
  EXPECT_EQ(counts.passes, 3);
  EXPECT_EQ(counts.passes_replay, 1);
  EXPECT_EQ(counts.residual_passes, 0);
}

TEST(Normalise, an_accepted_draft_too_few_looks_like_a_replay_until_decode_calls_deny_it) {
  // Truth: 3/2 made 3 tokens in one pass; said: 1 accepted. Decode calls say that nothing was
  // replayed.
  const auto request = Stream().pass(3, 1, 3).finish().decodes(3, 2).build();
  EXPECT_EQ(counts_of(request).residual_passes, -1);
  EXPECT_THAT(found_in(request), testing::Contains(testing::HasSubstr("residual_passes is -1")));
}

TEST(Normalise, what_an_end_cut_off_is_overshoot_seen_in_the_last_group) {
  // 7/5 accepted 5, but an end token stood at the third place: 3 of 6 tokens came out.
  const auto request = Stream().pass(7, 5, 3).ends_by(trace::StopReason::eos).finish().build();
  const auto counts = counts_of(request);
  EXPECT_EQ(counts.overshoot, 3);
  EXPECT_EQ(counts.passes, 1);
  EXPECT_EQ(counts.residual_passes, 0);
}

TEST(Normalise, an_end_inside_a_replay_is_seen_by_decode_calls_alone) {
  // 3/1 replayed: 3 tokens. Then 3/1 again, and its replay was cut by an end token after two of its
  // three tokens: X = 1. Decode calls: 2 for the prompt, 2 verifies, 2 replays.
  auto stream = Stream();
  stream.pass(3, 1, 3).pass(3, 1, 2).ends_by(trace::StopReason::eos).finish();
  const auto unseen = counts_of(stream.build());
  EXPECT_FALSE(unseen.overshoot.known());
  EXPECT_FALSE(unseen.residual_passes.known());
  const auto counts = counts_of(stream.decodes(6, 2).build());
  EXPECT_EQ(counts.overshoot, 1);
  EXPECT_EQ(counts.passes, 4);
  EXPECT_EQ(counts.passes_replay, 2);
  EXPECT_EQ(counts.residual_passes, 0);
}

TEST(Normalise, groups_of_several_passes_fill_no_table_by_position) {
  // Three passes of 3/2 whose nine tokens came with one time: no draft of nine was ever made.
  const auto request = Stream().pass(9, 6, 9).pass(3, 2, 3).finish().build();
  EXPECT_TRUE(request.passes.empty());
  const auto counts = counts_of(request);
  EXPECT_TRUE(counts.positions.empty());
  EXPECT_FALSE(counts.tested.known());
}

TEST(Normalise, two_passes_in_a_group_are_given_away_by_the_counters_positions) {
  auto request = Stream().pass(6, 4, 6).pass(3, 2, 3).finish().build();
  EXPECT_EQ(request.passes.size(), 2u) << "alone it may be one draft of six and its replay";
  // What the counters moved by: three passes that accepted two each.
  request.answer->said.push_back(
      {Quantity::accepted_at, 0, {3, 3, 0}, "/metrics", "per_pos_total", ""});
  normalise(request, false);
  EXPECT_TRUE(request.passes.empty());
  const auto counts = counts_of(request);
  ASSERT_EQ(counts.positions.size(), 3u);
  EXPECT_EQ(counts.positions[1].accepted, 3);
  EXPECT_FALSE(counts.positions[1].reached.known());
}

TEST(Normalise, a_length_stop_has_no_overshoot_so_a_short_last_group_is_a_lie) {
  const auto request = Stream().pass(7, 5, 3).finish().build();
  EXPECT_EQ(counts_of(request).overshoot, 0);
  EXPECT_EQ(counts_of(request).residual_passes, 1 - (3 - 5));
}

TEST(Normalise, C208_drafts_that_are_not_mentioned_by_a_server_that_counts_them_are_none) {
  const auto counts = counts_of(Stream().pass(0, 0, 1).pass(0, 0, 1).finish().build());
  EXPECT_EQ(counts.offered, 0);
  EXPECT_EQ(counts.passes, 2);
  EXPECT_EQ(counts.passes_plain, 2);
  EXPECT_EQ(counts.residual_passes, 0);
}

TEST(Normalise, a_token_without_an_event_makes_groups_no_count_of_passes) {
  const auto request = Stream().pass(0, 0, 1).hidden().pass(0, 0, 1).finish().build();
  const auto counts = counts_of(request);
  EXPECT_EQ(counts.output_tokens, 4);
  EXPECT_EQ(counts.passes, 3) << "E - 1 - A: the identity still holds";
  EXPECT_FALSE(counts.residual_passes.known());
  EXPECT_EQ(counts.windows_8gram, 0);
}

TEST(Normalise, a_first_token_without_an_event_is_put_where_the_clock_began) {
  trace::Request request;
  request.answer.emplace();
  request.stop = trace::StopReason::limit;
  trace::Chunk chunk;
  chunk.content_bytes = 3;
  chunk.tokens = {7};
  chunk.output_tokens = 2;
  chunk.decode_ms = 20;
  request.chunks = {chunk};
  normalise(request, false);
  ASSERT_EQ(request.emissions.size(), 2u);
  EXPECT_EQ(request.emissions[0].at_ns, 0);
  EXPECT_EQ(request.emissions[0].tokens, std::vector<std::int32_t>{trace::unknown_token});
  EXPECT_DOUBLE_EQ(counts_of(request).decode_s, 0.02);
}

/// A server without times of its own: OpenAI's routes.
trace::Request plain_stream(std::vector<int> arrived_ms) {
  trace::Request request;
  request.answer.emplace();
  request.answer->endpoint = "/v1/chat/completions";
  request.stop = trace::StopReason::limit;
  for (const int ms : arrived_ms) {
    trace::Chunk chunk;
    chunk.arrived_ns = 1'000'000LL * ms;
    chunk.content_bytes = 4;
    request.chunks.push_back(chunk);
  }
  return request;
}

void say(trace::Request& request, Quantity quantity, double value) {
  request.answer->said.push_back({quantity, value, {}, "/v1/chat/completions", "usage", ""});
}

TEST(Normalise, C224_events_are_not_tokens_and_without_a_count_there_is_no_rate) {
  auto request = plain_stream({100, 110, 120});
  normalise(request, false);
  EXPECT_FALSE(count_request(request)) << "three events, nobody knows how many tokens";
  say(request, Quantity::output_tokens, 31);
  normalise(request, false);
  const auto counts = counts_of(request);
  EXPECT_EQ(counts.decode_tokens, 30);
  EXPECT_DOUBLE_EQ(counts.decode_s, 0.02);
  EXPECT_FALSE(counts.passes.known());
  EXPECT_EQ(counts.bursts, 2);
}

TEST(Normalise, C129_counts_of_drafts_alone_bound_the_passes_where_a_draft_may_reach_past_the_cap) {
  auto request = plain_stream({100, 200, 300});
  say(request, Quantity::output_tokens, 31);
  say(request, Quantity::accepted, 20);
  say(request, Quantity::offered, 33);
  normalise(request, false);
  const auto counts = counts_of(request);
  EXPECT_FALSE(counts.passes.known()) << "X = 0 at a length stop is llama-server's word only";
  EXPECT_THAT(counts.passes.reason(), testing::HasSubstr("at least 10 passes")) << "31 - 1 - 20";
  EXPECT_EQ(counts.accepted, 20);
  EXPECT_FALSE(counts.passes_speculative.known());
  EXPECT_FALSE(counts.residual_passes.known());
}

TEST(Normalise, C211_an_end_inside_a_draft_leaves_passes_unknown_where_nobody_saw_them) {
  auto request = plain_stream({100, 200});
  request.stop = trace::StopReason::eos;
  say(request, Quantity::output_tokens, 2);
  say(request, Quantity::accepted, 6);
  normalise(request, false);
  const auto counts = counts_of(request);
  EXPECT_FALSE(counts.passes.known());
  EXPECT_THAT(counts.passes.reason(), testing::HasSubstr("ended before its cap"));
}

TEST(Normalise, C126_a_server_that_hides_its_drafts_has_no_passes_unless_it_is_declared_plain) {
  auto request = plain_stream({100, 200});
  say(request, Quantity::output_tokens, 15);
  auto declared = request;
  normalise(request, false);
  EXPECT_FALSE(counts_of(request).passes.known());
  normalise(declared, true);
  EXPECT_EQ(counts_of(declared).passes, 14);
  EXPECT_FALSE(counts_of(declared).residual_passes.known());
}

TEST(Normalise, C229_a_length_that_is_no_count_is_unknown) {
  auto request = plain_stream({100, 200});
  say(request, Quantity::output_tokens, -275253488);
  normalise(request, false);
  EXPECT_FALSE(count_request(request));
}

TEST(Normalise, a_count_of_drafts_that_is_no_count_is_unknown_and_not_none) {
  for (const double impossible : {0.5, 1e12, 1e307, -1.0}) {
    auto stream = Stream();
    stream.pass(0, 0, 1).pass(0, 0, 1).finish();
    stream.say(Quantity::offered, impossible, "/metrics").say(Quantity::accepted, impossible);
    const auto counts = counts_of(stream.build());
    EXPECT_FALSE(counts.offered.known()) << impossible;
    EXPECT_FALSE(counts.accepted.known()) << impossible;
    EXPECT_THAT(counts.offered.reason(), testing::HasSubstr("no count"));
  }
}

TEST(Normalise, C137_events_without_text_start_no_clock) {
  auto request = plain_stream({50, 183, 300});
  request.chunks[0].content_bytes = 0;
  request.chunks[1].content_bytes = 0;
  request.chunks[1].reasoning_bytes = 4;
  request.answer->timeline.scheduled_ns = 0;
  say(request, Quantity::output_tokens, 9);
  normalise(request, false);
  EXPECT_DOUBLE_EQ(*request.tally->ttft_s, 0.183) << "reasoning counts, an empty role does not";
  EXPECT_DOUBLE_EQ(*request.tally->ttfo_s, 0.3);
}

TEST(Normalise, C141_cached_prompt_tokens_are_kept_apart_from_those_processed) {
  auto request = plain_stream({100, 200});
  say(request, Quantity::output_tokens, 5);
  say(request, Quantity::prompt_tokens, 812);
  say(request, Quantity::prompt_cached, 800);
  normalise(request, false);
  const auto counts = counts_of(request);
  EXPECT_EQ(counts.prefill_tokens, 12);
  EXPECT_EQ(counts.prefill_cached, 800);
  EXPECT_FALSE(counts.prefill_s.known());
}

TEST(Normalise, more_tokens_streamed_than_said_is_an_oddity) {
  auto stream = Stream();
  stream.pass(3, 3, 4).finish();
  auto request = stream.build();
  EXPECT_TRUE(request.answer->oddities.empty());
  auto lied = Stream().pass(3, 3, 4).say(Quantity::output_tokens, 9).build();
  EXPECT_THAT(lied.answer->oddities, testing::Contains(testing::HasSubstr("9 said")));
}

TEST(Normalise, accepted_over_offered_is_kept_and_named) {
  const auto request = Stream().pass(2, 3, 4).finish().build();
  EXPECT_EQ(counts_of(request).accepted, 3);
  EXPECT_THAT(found_in(request),
              testing::Contains(testing::HasSubstr("accepted 3 exceeds offered 2")));
}

TEST(Normalise, counters_that_moved_by_another_number_than_the_answer_says_are_named) {
  auto stream = Stream();
  stream.pass(3, 2, 3).finish().say(Quantity::accepted, 2, "/metrics", "accepted_total");
  EXPECT_TRUE(found_in(stream.build()).empty());
  stream.say(Quantity::accepted, 4, "/metrics", "accepted_total");
  EXPECT_THAT(
      found_in(stream.build()),
      testing::Contains(testing::HasSubstr("says 2 and accepted_total of /metrics says 4")));
}

TEST(Normalise, leaves_the_embedded_engines_requests_alone) {
  trace::Request request;
  request.emissions.emplace_back();
  normalise(request, true);
  EXPECT_EQ(request.emissions.size(), 1u);
  EXPECT_FALSE(request.tally);
}

}  // namespace
}  // namespace paceline::metrics
