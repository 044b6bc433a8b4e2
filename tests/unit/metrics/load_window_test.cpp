#include "metrics/load_window.hpp"

#include <gtest/gtest.h>

#include "support/served_request.hpp"

namespace paceline::metrics {
namespace {

using tests::closed_cell;
using tests::one_a_second;
using tests::second_ns;
using tests::served;
using tests::two_at_once;

TEST(SteadyWindow, of_a_closed_loop_runs_from_all_decoding_until_fewer_remain) {
  const auto found = steady_window(two_at_once());
  ASSERT_TRUE(found.window) << found.reason;
  // A and B both decode from 2 s on; C ends at 8 s and leaves D alone.
  EXPECT_EQ(found.window->began_ns, 2 * second_ns);
  EXPECT_EQ(found.window->ended_ns, 8 * second_ns);
  // After 2 s: A at 3 4, B at 3 4 5, C at 5 6 7 8, D at 6 7 8.
  EXPECT_DOUBLE_EQ(found.window->tokens, 12);
  EXPECT_DOUBLE_EQ(found.window->tokens_per_s(), 2);
  EXPECT_FALSE(found.window->is_shared_out);
}

TEST(SteadyWindow, counts_the_tokens_of_an_event_and_not_events) {
  // One in flight; events of 1, 3 and 2 tokens at 1, 2 and 4 s.
  const auto found = steady_window(closed_cell(1, {served(0, {{1, 1}, {2, 4}, {4, 6}})}));
  ASSERT_TRUE(found.window) << found.reason;
  EXPECT_DOUBLE_EQ(found.window->tokens, 5);
  EXPECT_DOUBLE_EQ(found.window->seconds(), 3);
}

TEST(SteadyWindow, shares_a_total_out_by_bytes_where_events_do_not_say_theirs) {
  auto request = served(0, {{1, 1}, {2, 2}, {3, 3}});
  const int bytes[] = {2, 8, 10};
  for (std::size_t i = 0; i < 3; ++i) {
    request.chunks[i].output_tokens.reset();
    request.chunks[i].content_bytes = bytes[i];
  }
  request.emissions.resize(1);
  request.emissions[0].tokens.assign(10, trace::unknown_token);
  const auto stream = stream_of(request);
  ASSERT_TRUE(stream);
  EXPECT_TRUE(stream->is_shared_out);
  ASSERT_EQ(stream->arrivals.size(), 3u);
  EXPECT_DOUBLE_EQ(stream->arrivals[0].tokens, 1);
  EXPECT_DOUBLE_EQ(stream->arrivals[1].tokens, 4);
  EXPECT_DOUBLE_EQ(stream->arrivals[2].tokens, 5);
  const auto found = steady_window(closed_cell(1, {request}));
  ASSERT_TRUE(found.window);
  EXPECT_TRUE(found.window->is_shared_out);
  EXPECT_DOUBLE_EQ(found.window->tokens, 9);
}

TEST(SteadyWindow, is_none_where_text_came_and_nobody_knows_how_many_tokens_it_is) {
  auto request = served(0, {{1, 1}, {2, 2}});
  for (auto& chunk : request.chunks) chunk.output_tokens.reset();
  EXPECT_FALSE(stream_of(request));
  EXPECT_EQ(steady_window(closed_cell(1, {request})).reason,
            "the server does not say how many tokens a request has");
}

TEST(SteadyWindow, is_none_where_so_many_never_decoded_at_once) {
  // A server with one slot: the second begins when the first has ended.
  const auto found = steady_window(closed_cell(2, {one_a_second(0, 1, 3), one_a_second(0, 4, 3)}));
  EXPECT_FALSE(found.window);
  EXPECT_NE(found.reason.find("never were 2 requests decoding at once"), std::string::npos);
}

TEST(SteadyWindow, is_none_where_the_cell_was_cut_short) {
  auto cell = two_at_once();
  cell.planned = 6;
  EXPECT_EQ(steady_window(cell).reason, "only 4 of 6 requests were sent");
}

TEST(SteadyWindow, of_an_open_loop_is_the_middle_by_when_requests_were_due) {
  trace::LoadCell cell = closed_cell(0, {});
  cell.loop = trace::LoadLoop::open;
  for (int i = 0; i < 10; ++i) cell.requests.push_back(one_a_second(i, i + 1, 3));
  cell.planned = 10;
  const auto found = steady_window(cell);
  ASSERT_TRUE(found.window) << found.reason;
  EXPECT_EQ(found.window->began_ns, 2 * second_ns);
  EXPECT_EQ(found.window->ended_ns, 8 * second_ns);
  // At every second from 3 to 8 three requests emit one token each.
  EXPECT_DOUBLE_EQ(found.window->tokens, 18);
  EXPECT_DOUBLE_EQ(found.window->tokens_per_s(), 3);
}

TEST(SteadyWindow, of_an_open_loop_needs_requests_enough_for_a_middle) {
  trace::LoadCell cell = closed_cell(0, {one_a_second(0, 1, 3), one_a_second(1, 2, 3)});
  cell.loop = trace::LoadLoop::open;
  EXPECT_NE(steady_window(cell).reason.find("no middle part"), std::string::npos);
}

TEST(SteadyWindow, keeps_out_totals_that_fall_or_leap) {
  auto request = served(0, {{1, 1}, {2, 5}, {3, 3}, {4, 9'000'000'000'000}, {5, 6}});
  const auto stream = stream_of(request);
  ASSERT_TRUE(stream);
  double tokens = 0;
  for (const auto& one : stream->arrivals) tokens += one.tokens;
  EXPECT_DOUBLE_EQ(tokens, 5);
}

}  // namespace
}  // namespace paceline::metrics
