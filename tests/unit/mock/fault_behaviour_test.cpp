#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/client.hpp"
#include "support/mock_server.hpp"

// Each fault does what its name says, to the request it was meant for and to no other.

namespace paceline::mock {
namespace {

using support::MockServer;
using util::Json;

constexpr auto patience = std::chrono::seconds(30);

Options faulty(const std::string& fault, const std::string& dialect = "llama-server") {
  Options options;
  options.dialect = dialect;
  options.truth.speculates = true;
  options.truth.rounds = {{3, 1, 0}};
  options.faults = {*parse_fault(fault)};
  return options;
}

Json completion(int tokens) {
  return {
      {"prompt", "hello"}, {"n_predict", tokens}, {"stream", true}, {"timings_per_token", true}};
}

Json chat(int tokens) {
  return {{"messages", {{{"role", "user"}, {"content", "hi"}}}},
          {"max_tokens", tokens},
          {"stream", true},
          {"stream_options", {{"include_usage", true}}}};
}

net::Request streaming(int tokens) {
  return {"POST", "/completion", {}, completion(tokens).dump()};
}

double counter(const MockServer& server, const std::string& name) {
  return support::metric_value(server.get("/metrics").body, "llamacpp:" + name).value_or(-1);
}

/// What a client saw of one stream.
struct Seen {
  std::string body;
  net::EndKind end = net::EndKind::complete;
};

/// Runs one stream and gives it up as soon as `enough` events have come.
Seen watch(net::Client& client, const MockServer& server, std::size_t enough) {
  Seen seen;
  const auto exchange = client.start(server.address(), streaming(10));
  const auto until = std::chrono::steady_clock::now() + patience;
  while (const auto arrival = client.next(until)) {
    if (const auto* body = std::get_if<net::Body>(&arrival->what)) seen.body += body->bytes;
    if (const auto* end = std::get_if<net::End>(&arrival->what)) {
      seen.end = end->kind;
      return seen;
    }
    if (support::event_json({200, {}, seen.body}).size() >= enough) client.cancel(exchange);
  }
  ADD_FAILURE() << "the stream never ended";
  return seen;
}

TEST(MockFaults, stall_is_silent_from_half_on_and_frees_the_slot_of_who_leaves) {
  MockServer server(faulty("stall@1"));
  net::Client client{net::ClientOptions{}};
  const Seen seen = watch(client, server, 5);
  EXPECT_EQ(seen.end, net::EndKind::cancelled);
  EXPECT_EQ(support::event_json({200, {}, seen.body}).size(), 5u);
  // The one slot is free again, or this would wait for ever.
  EXPECT_EQ(support::event_json(server.post("/completion", completion(10))).size(), 11u);
}

TEST(MockFaults, stall_with_a_time_goes_on_after_it) {
  MockServer server(faulty("stall:0.01"));
  EXPECT_EQ(support::event_json(server.post("/completion", completion(10))).size(), 11u);
}

TEST(MockFaults, cut_closes_after_so_many_tokens) {
  MockServer server(faulty("cut:3@1"));
  net::Client client{net::ClientOptions{}};
  const Seen seen = watch(client, server, 99);
  EXPECT_EQ(seen.end, net::EndKind::cut);
  EXPECT_EQ(support::event_json({200, {}, seen.body}).size(), 3u);
  EXPECT_EQ(watch(client, server, 99).end, net::EndKind::complete);
}

TEST(MockFaults, cut_still_counts_what_was_done_as_a_released_slot_does) {
  MockServer server(faulty("cut:3"));
  net::Client client{net::ClientOptions{}};
  watch(client, server, 99);
  // 1 + 2 + 2 tokens were made when the third was the last to be said.
  EXPECT_EQ(counter(server, "tokens_predicted_total"), 5);
  EXPECT_EQ(counter(server, "spec_decode_num_drafts_total"), 2);
}

TEST(MockFaults, http_500_answers_the_chosen_request_alone) {
  MockServer server(faulty("http-500@2"));
  EXPECT_EQ(server.post("/completion", completion(4)).status, 200);
  const auto response = server.post("/completion", completion(4));
  EXPECT_EQ(response.status, 500);
  EXPECT_TRUE(util::parse_json(response.body, "error")->contains("error"));
  EXPECT_EQ(server.post("/completion", completion(4)).status, 200);
}

TEST(MockFaults, error_in_stream_is_an_event_and_the_last) {
  MockServer server(faulty("error-in-stream:2"));
  const auto events = support::event_json(server.post("/completion", completion(8)));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_TRUE(events[2].contains("error"));
}

TEST(MockFaults, malformed_json_is_one_event_of_a_stream_that_goes_on) {
  MockServer server(faulty("malformed-json:2"));
  const auto events = support::event_json(server.post("/completion", completion(8)));
  ASSERT_EQ(events.size(), 10u);
  EXPECT_TRUE(events[2].is_null());
  EXPECT_EQ(events[9]["stop"], true);
}

TEST(MockFaults, wrong_content_type_leaves_the_body_right) {
  MockServer server(faulty("wrong-content-type"));
  const auto response = server.post("/completion", completion(4));
  EXPECT_EQ(net::header(response.headers, "content-type"), "text/html");
  EXPECT_EQ(support::event_json(response).size(), 5u);
}

TEST(MockFaults, counter_reset_forgets_counts_but_not_the_build) {
  MockServer server(faulty("counter-reset@2"));
  server.post("/completion", completion(20));
  server.post("/completion", completion(4));
  EXPECT_EQ(counter(server, "tokens_predicted_total"), 4);
  EXPECT_THAT(server.get("/props").body, testing::Not(testing::HasSubstr("restart")));
}

TEST(MockFaults, restart_is_another_process_with_another_build) {
  MockServer server(faulty("restart@2"));
  const auto before = server.get("/metrics");
  server.post("/completion", completion(20));
  server.post("/completion", completion(4));
  const auto after = server.get("/metrics");
  EXPECT_NE(net::header(before.headers, "Process-Start-Time-Unix"),
            net::header(after.headers, "Process-Start-Time-Unix"));
  EXPECT_THAT(server.get("/props").body, testing::HasSubstr("b1-de3ff81-restart1"));
  EXPECT_EQ(counter(server, "tokens_predicted_total"), 4);
}

TEST(MockFaults, lie_accepted_says_more_accepted_than_drafted_in_answer_and_counters) {
  MockServer server(faulty("lie-accepted"));
  // 1 + 2 + 2 + 2 + 2 + 1: drafts of 3, 3, 3, 2 and none.
  const auto events = support::event_json(server.post("/completion", completion(9)));
  const Json& timings = events.back()["timings"];
  EXPECT_EQ(timings["draft_n_accepted"], timings["draft_n"].get<long>() + 1);
  EXPECT_EQ(counter(server, "spec_decode_num_accepted_tokens_total"),
            counter(server, "spec_decode_num_draft_tokens_total") + 1);
}

TEST(MockFaults, lie_accepted_plus_adds_one_to_the_truth) {
  MockServer server(faulty("lie-accepted-plus@2"));
  const auto honest = support::event_json(server.post("/completion", completion(9)));
  const auto lying = support::event_json(server.post("/completion", completion(9)));
  EXPECT_EQ(lying.back()["timings"]["draft_n_accepted"],
            honest.back()["timings"]["draft_n_accepted"].get<long>() + 1);
}

TEST(MockFaults, lie_count_states_another_usage_than_was_streamed) {
  MockServer server(faulty("lie-count:2"));
  const auto events = support::event_json(server.post("/v1/chat/completions", chat(6)));
  EXPECT_EQ(events.back()["usage"]["completion_tokens"], 8);
  EXPECT_EQ(events.back()["timings"]["predicted_n"], 6);
}

TEST(MockFaults, burst_puts_many_tokens_into_one_event) {
  MockServer server(faulty("burst:4"));
  const auto events = support::event_json(server.post("/completion", completion(9)));
  // Passes make 1, 3, 5, 7, 9 tokens in all: five at once, then the rest.
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["tokens"].size(), 5u);
  EXPECT_EQ(events[1]["tokens"].size(), 4u);
}

TEST(MockFaults, late_usage_and_slow_first_byte_change_nothing_but_the_time) {
  for (const char* fault : {"late-usage:0.01", "slow-first-byte:0.01"}) {
    MockServer server(faulty(fault));
    EXPECT_EQ(support::event_json(server.post("/completion", completion(4))).size(), 5u) << fault;
  }
}

TEST(MockFaults, other_client_moves_the_counters_by_more_than_the_request_did) {
  MockServer server(faulty("other-client:7"));
  server.post("/completion", completion(4));
  EXPECT_EQ(counter(server, "tokens_predicted_total"), 4 + 7);
}

TEST(MockFaults, never_healthy_refuses_everything_until_enough_polls) {
  MockServer server(faulty("never-healthy:2"));
  EXPECT_EQ(server.get("/health").status, 503);
  EXPECT_EQ(server.get("/props").status, 503);
  EXPECT_THAT(server.get("/health").body, testing::HasSubstr("Loading model"));
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_EQ(server.post("/completion", completion(2)).status, 200);
}

TEST(MockFaults, truncated_prompt_reads_less_than_was_sent_C253) {
  Options options = faulty("truncated-prompt:5");
  options.truth.prompt_tokens = 100;
  MockServer server(options);
  const Json last = support::event_json(server.post("/completion", completion(2))).back();
  EXPECT_EQ(last["truncated"], true);
  EXPECT_EQ(last["timings"]["prompt_n"], 5);
}

TEST(MockFaults, cached_leaves_one_prompt_token_to_decode_C102) {
  Options options = faulty("cached@2");
  options.truth.prompt_tokens = 100;
  MockServer server(options);
  server.post("/completion", completion(2));
  const Json last = support::event_json(server.post("/completion", completion(2))).back();
  EXPECT_EQ(last["timings"]["cache_n"], 99);
  EXPECT_EQ(last["timings"]["prompt_n"], 1);
}

TEST(MockFaults, heartbeats_come_between_events_and_are_none_C134) {
  MockServer server(faulty("heartbeats"));
  const auto response = server.post("/completion", completion(4));
  EXPECT_THAT(response.body, testing::HasSubstr(": keepalive\n\n"));
  EXPECT_EQ(support::event_json(response).size(), 5u);
}

TEST(MockFaults, of_one_kind_strike_lines_as_well_as_events) {
  MockServer server(faulty("error-in-stream:2", "ollama"));
  const auto response =
      server.post("/api/generate", {{"prompt", "hi"}, {"options", {{"num_predict", 8}}}});
  EXPECT_THAT(response.body, testing::EndsWith("{\"error\":\"the mock was told to fail\"}\n"));
}

TEST(MockCounters, of_llama_server_move_when_a_request_ends_but_decodes_at_once) {
  MockServer server(faulty("stall@1"));
  net::Client client{net::ClientOptions{}};
  const auto exchange = client.start(server.address(), streaming(10));
  std::string body;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (support::event_json({200, {}, body}).size() < 5) {
    const auto arrival = client.next(until);
    ASSERT_TRUE(arrival);
    if (const auto* bytes = std::get_if<net::Body>(&arrival->what)) body += bytes->bytes;
  }
  // The prompt's decode and three passes, the tokens of the last held back by the stall.
  EXPECT_EQ(counter(server, "n_decode_total"), 4);
  EXPECT_EQ(counter(server, "tokens_predicted_total"), 0);
  EXPECT_EQ(counter(server, "spec_decode_num_drafts_total"), 0);
  EXPECT_EQ(counter(server, "requests_processing"), 1);
  client.cancel(exchange);
}

TEST(MockSlots, share_their_forwards_where_told_so) {
  Options options;
  options.truth.slots = 4;
  options.truth.shared_forwards = true;
  MockServer server(options);
  net::Client client{net::ClientOptions{}};
  for (int i = 0; i < 4; ++i) client.start(server.address(), streaming(1 + 50));
  int open = 4;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (open > 0) {
    const auto arrival = client.next(until);
    ASSERT_TRUE(arrival);
    if (std::holds_alternative<net::End>(arrival->what)) --open;
  }
  // Each took 51 forwards; apart they would be 204 together, in step 51.
  EXPECT_GE(counter(server, "n_decode_total"), 51);
  EXPECT_LT(counter(server, "n_decode_total"), 204);
  EXPECT_EQ(counter(server, "tokens_predicted_total"), 4 * 51);
}

TEST(MockServerKey, is_asked_of_every_request) {
  Options options;
  options.api_key = "secret";
  MockServer server(options);
  EXPECT_EQ(server.get("/props").status, 401);
  net::Client client{net::ClientOptions{}};
  net::Request request;
  request.target = "/props";
  request.headers = {{"authorization", "Bearer secret"}};
  EXPECT_EQ(client.fetch(server.address(), request, patience)->status, 200);
}

}  // namespace
}  // namespace paceline::mock
