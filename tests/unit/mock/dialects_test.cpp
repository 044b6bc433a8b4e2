#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/mock_server.hpp"

// The other dialects, held against the shapes of the reference samples.

namespace paceline::mock {
namespace {

using support::MockServer;
using util::Json;

/// 12 tokens in 5 passes: 1 + 4 + 2 + 1 + 1 + 3; S = 4, D = 12, A = 6.
constexpr int tokens = 12;

Options server_of(const std::string& dialect) {
  Options options;
  options.dialect = dialect;
  options.truth.speculates = true;
  options.truth.draft_capped = false;
  options.truth.rounds = {{3, 3, 0}, {3, 1, 0}, {0, 0, 0}, {3, 0, 0}, {3, 2, 0}};
  return options;
}

Json chat() {
  return {{"messages", {{{"role", "user"}, {"content", "hi"}}}},
          {"max_tokens", tokens},
          {"stream", true},
          {"stream_options", {{"include_usage", true}}}};
}

Json last_of(const MockServer& server, const std::string& route, const Json& body) {
  return support::event_json(server.post(route, body)).back();
}

TEST(MockOpenAi, sends_one_event_a_pass_with_all_its_tokens) {
  MockServer server(server_of("openai"));
  const auto events = support::event_json(server.post("/v1/chat/completions", chat()));
  // The role, the first token, five passes and usage.
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(events[0]["choices"][0]["delta"]["content"], "");
  EXPECT_EQ(events[6]["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(events[7]["choices"].empty());
  EXPECT_EQ(events[7]["usage"]["completion_tokens"], tokens);
}

TEST(MockOpenAi, says_no_usage_unless_asked) {
  MockServer server(server_of("openai"));
  Json body = chat();
  body.erase("stream_options");
  EXPECT_FALSE(last_of(server, "/v1/chat/completions", body).contains("usage"));
}

TEST(MockVllm, summarises_speculation_in_the_usage_chunk) {
  MockServer server(server_of("vllm"));
  const Json last = last_of(server, "/v1/chat/completions", chat());
  const Json& said = last["metrics"]["speculative_decoding"];
  EXPECT_EQ(said["acceptance_histogram"], Json::array({1, 1, 1, 1}));
  EXPECT_EQ(said["acceptance_histogram_by_draft_length"]["3"], Json::array({1, 1, 1, 1}));
  EXPECT_EQ(said["num_spec_steps"], 4);
  EXPECT_EQ(said["num_accepted_draft_tokens"], 6);
  EXPECT_EQ(said["num_draft_tokens"], 12);
  EXPECT_EQ(said["num_spec_tokens"], 3);
  EXPECT_DOUBLE_EQ(said["mean_acceptance_length"], 2.5);
  EXPECT_DOUBLE_EQ(said["draft_acceptance_rate"], 0.5);
  EXPECT_FALSE(said.contains("per_step_accepted"));
}

TEST(MockVllm, lists_steps_with_a_draft_where_it_is_detailed) {
  MockServer server(server_of("vllm-detailed"));
  const Json last = last_of(server, "/v1/chat/completions", chat());
  EXPECT_EQ(last["metrics"]["speculative_decoding"]["per_step_accepted"],
            Json::array({3, 1, 0, 2}));
}

TEST(MockVllm, names_the_counters_of_C120_with_labels_and_creation_times) {
  MockServer server(server_of("vllm-plain"));
  server.post("/v1/chat/completions", chat());
  const std::string text = server.get("/metrics").body;
  const auto value = [&](const std::string& name, const std::string& more = "") {
    return support::metric_value(
        text, "vllm:" + name + "{engine=\"0\",model_name=\"mock-model\"" + more + "}");
  };
  EXPECT_EQ(value("spec_decode_num_drafts_total"), 4);
  EXPECT_EQ(value("spec_decode_num_draft_tokens_total"), 12);
  EXPECT_EQ(value("spec_decode_num_accepted_tokens_total"), 6);
  EXPECT_EQ(value("spec_decode_num_accepted_tokens_per_pos_total", ",position=\"0\""), 3);
  EXPECT_EQ(value("spec_decode_num_accepted_tokens_per_pos_total", ",position=\"2\""), 1);
  EXPECT_GT(*value("spec_decode_num_drafts_created"), 1.7e9);
  EXPECT_EQ(value("generation_tokens_total"), tokens);
  EXPECT_FALSE(value("spec_decode_efficiency"));
}

TEST(MockVllm, gives_token_ids_and_running_usage_when_asked) {
  MockServer server(server_of("vllm"));
  Json body = chat();
  body["return_token_ids"] = true;
  body["stream_options"]["continuous_usage_stats"] = true;
  const auto events = support::event_json(server.post("/v1/chat/completions", body));
  EXPECT_EQ(events[2]["choices"][0]["token_ids"].size(), 4u);
  EXPECT_EQ(events[2]["usage"]["completion_tokens"], 5);
}

TEST(MockVllm, of_V0_has_gauges_and_emitted_tokens) {
  MockServer server(server_of("vllm-v0"));
  server.post("/v1/chat/completions", chat());
  const std::string text = server.get("/metrics").body;
  const std::string labels = "{engine=\"0\",model_name=\"mock-model\"}";
  EXPECT_EQ(support::metric_value(text, "vllm:spec_decode_draft_acceptance_rate" + labels), 0.5);
  EXPECT_EQ(support::metric_value(text, "vllm:spec_decode_num_emitted_tokens_total" + labels), 10);
  EXPECT_FALSE(support::metric_value(text, "vllm:spec_decode_num_drafts_total" + labels));
}

TEST(MockSgLang, says_spec_tokens_details_when_asked_and_only_then) {
  MockServer server(server_of("sglang"));
  Json body = chat();
  EXPECT_FALSE(last_of(server, "/v1/chat/completions", body).contains("sglext"));
  body["return_spec_tokens_details"] = true;
  const Json last = last_of(server, "/v1/chat/completions", body);
  const Json& said = last["sglext"]["spec_tokens_details"];
  EXPECT_EQ(said["spec_num_correct_drafts"], 6);
  EXPECT_EQ(said["spec_num_proposed_drafts"], 12);
  EXPECT_EQ(said["spec_verify_ct"], 4);
  EXPECT_DOUBLE_EQ(said["spec_accept_length"], 3.0);  // 12 tokens over 4, the first one included
  EXPECT_EQ(said["spec_correct_drafts_histogram"], Json::array({1, 1, 1, 1}));
}

TEST(MockSgLang, had_other_names_for_them_in_each_generation) {
  const Json body = {{"text", "hi"}, {"sampling_params", {{"max_new_tokens", tokens}}}};
  const std::pair<const char*, const char*> names[] = {{"sglang-1", "spec_accept_token_num"},
                                                       {"sglang-2", "spec_accepted_drafts"},
                                                       {"sglang", "spec_num_correct_drafts"}};
  for (const auto& [dialect, name] : names) {
    MockServer server(server_of(dialect));
    const auto answer = util::parse_json(server.post("/generate", body).body, "answer");
    EXPECT_EQ((*answer)["meta_info"][name], 6) << dialect;
  }
}

TEST(MockTensorRt, counts_by_position_and_is_not_read_at_its_draining_route) {
  MockServer server(server_of("tensorrt-llm"));
  const Json last = last_of(server, "/v1/chat/completions", chat());
  EXPECT_EQ(last["speculative_decoding"]["num_spec_steps"], 4);
  const std::string text = server.get("/prometheus/metrics").body;
  EXPECT_EQ(
      support::metric_value(text, "trtllm_spec_decode_accepted_tokens_total{token_position=\"1\"}"),
      2);
  EXPECT_EQ(server.requests_to("/metrics"), 0);
  EXPECT_EQ(server.get("/metrics").body.front(), '[');
  EXPECT_EQ(server.requests_to("/metrics"), 1);
}

TEST(MockOllama, streams_lines_by_default_and_ends_with_nanoseconds_C126) {
  Options options = server_of("ollama");
  options.truth.seconds_per_pass = 0.002;
  options.truth.cached_tokens = 1;
  MockServer server(options);
  const auto response = server.post(
      "/api/generate", {{"prompt", "hello world"}, {"options", {{"num_predict", tokens}}}});
  std::istringstream lines(response.body);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  ASSERT_EQ(all.size(), 13u);
  const auto last = util::parse_json(all.back(), "line");
  EXPECT_EQ((*last)["done"], true);
  EXPECT_EQ((*last)["eval_count"], tokens);
  EXPECT_EQ((*last)["eval_duration"], 10'000'000);
  EXPECT_EQ((*last)["prompt_eval_count"], 3);
  EXPECT_EQ((*last)["prompt_eval_cached_count"], 1);
  EXPECT_THAT(all.back(), testing::Not(testing::HasSubstr("draft")));
}

TEST(MockLmStudio, says_stats_and_drafts_on_v0_C129) {
  MockServer server(server_of("lm-studio"));
  Json body = chat();
  body.erase("stream_options");
  const Json last = last_of(server, "/api/v0/chat/completions", body);
  const Json& stats = last["stats"];
  EXPECT_EQ(stats["total_draft_tokens_count"], 12);
  EXPECT_EQ(stats["accepted_draft_tokens_count"], 6);
  EXPECT_EQ(stats["rejected_draft_tokens_count"], 6);
  EXPECT_EQ(stats["stop_reason"], "maxPredictedTokensReached");
  EXPECT_EQ(last["model_info"]["quant"], "Q4_K_M");
  EXPECT_TRUE(last["runtime"].contains("version"));
}

TEST(MockLmStudio, says_named_events_and_no_drafts_on_v1) {
  MockServer server(server_of("lm-studio"));
  const Json last = last_of(server, "/api/v1/chat",
                            {{"input", "hi"}, {"max_output_tokens", tokens}, {"stream", true}});
  EXPECT_EQ(last["type"], "chat.end");
  EXPECT_EQ(last["result"]["stats"]["total_output_tokens"], tokens);
  EXPECT_FALSE(last["result"]["stats"].contains("total_draft_tokens_count"));
}

TEST(MockMlxVlm, adds_rounds_and_kind_to_the_timings_C130) {
  MockServer server(server_of("mlx-vlm"));
  const Json last = last_of(server, "/v1/chat/completions", chat());
  EXPECT_EQ(last["timings"]["draft_kind"], "mtp");
  EXPECT_EQ(last["timings"]["draft_rounds"], 4);
  EXPECT_EQ(last["timings"]["draft_n"], 12);
  EXPECT_EQ(last["timings"]["draft_n_accepted"], 6);
}

TEST(MockDialects, are_made_by_every_name_they_list) {
  for (const std::string& name : renderer_names()) EXPECT_NE(make_renderer(name), nullptr) << name;
  EXPECT_EQ(make_renderer("nobody"), nullptr);
}

}  // namespace
}  // namespace paceline::mock
