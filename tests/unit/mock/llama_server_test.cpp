#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/mock_server.hpp"

// llama-server's words as the mock says them, held against samples and the server's own source,
// not against what paceline reads.

namespace paceline::mock {
namespace {

using support::MockServer;
using util::Json;

Options speculating(std::vector<Round> rounds) {
  Options options;
  options.truth.speculates = true;
  options.truth.rounds = std::move(rounds);
  return options;
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
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

/// How many events share each predicted_ms, in their order.
std::vector<int> groups(const std::vector<Json>& events) {
  std::vector<int> sizes;
  double last = -1;
  for (const Json& event : events) {
    if (event.value("stop", false)) break;
    const double ms = event["timings"]["predicted_ms"];
    if (ms != last) sizes.push_back(0);
    ++sizes.back();
    last = ms;
  }
  return sizes;
}

TEST(MockLlamaServer, says_the_timings_of_the_sample_C101_and_C102_by_name) {
  MockServer server(speculating({{3, 1, 0}}));
  const auto answer = util::parse_json(
      server.post("/completion", {{"prompt", "hello"}, {"n_predict", 8}}).body, "answer");
  const std::set<std::string> expected = {"cache_n",
                                          "prompt_n",
                                          "prompt_ms",
                                          "prompt_per_token_ms",
                                          "prompt_per_second",
                                          "predicted_n",
                                          "predicted_ms",
                                          "predicted_per_token_ms",
                                          "predicted_per_second",
                                          "draft_n",
                                          "draft_n_accepted"};
  EXPECT_EQ(keys((*answer)["timings"]), expected);
}

TEST(MockLlamaServer, leaves_draft_fields_out_when_nothing_was_drafted_C101) {
  MockServer server(Options{});
  const auto answer = util::parse_json(
      server.post("/completion", {{"prompt", "hello"}, {"n_predict", 8}}).body, "answer");
  EXPECT_FALSE((*answer)["timings"].contains("draft_n"));
}

TEST(MockLlamaServer, sends_an_event_a_token_and_one_predicted_ms_a_pass) {
  // 1 + 3 + 1 + 4 = 9 tokens of 4 groups; the drafts are 3 + 3 + 3, of which 2 + 0 + 3 accepted.
  MockServer server(speculating({{3, 2, 0}, {3, 0, 0}, {3, 3, 0}}));
  const auto events = support::event_json(server.post("/completion", completion(9)));
  ASSERT_EQ(events.size(), 10u);
  EXPECT_EQ(groups(events), (std::vector<int>{1, 3, 1, 4}));
  EXPECT_EQ(events[8]["timings"]["draft_n"], 9);
  EXPECT_EQ(events[8]["timings"]["draft_n_accepted"], 5);
  EXPECT_FALSE(events[0]["timings"].contains("draft_n"));
  EXPECT_EQ(events[0]["timings"]["predicted_ms"], 0.001);
}

TEST(MockLlamaServer, merges_the_two_passes_of_a_replay_into_one_group_of_accepted_and_two) {
  MockServer server(speculating({{3, 1, 1}}));
  const auto events = support::event_json(server.post("/completion", completion(7)));
  EXPECT_EQ(groups(events), (std::vector<int>{1, 3, 3}));
  EXPECT_EQ(events[6]["timings"]["draft_n_accepted"], 2);
  // One decode of the prompt and four of passes.
  EXPECT_EQ(support::metric_value(server.get("/metrics").body, "llamacpp:n_decode_total"), 5);
}

TEST(MockLlamaServer, counts_rates_over_all_but_the_first_token) {
  Options options;
  options.truth.seconds_per_pass = 0.001;
  MockServer server(options);
  const auto events = support::event_json(server.post("/completion", completion(5)));
  const Json& timings = events.back()["timings"];
  EXPECT_EQ(timings["predicted_n"], 5);
  EXPECT_DOUBLE_EQ(timings["predicted_ms"], 4.0);
  EXPECT_DOUBLE_EQ(timings["predicted_per_second"], 1000.0);
}

TEST(MockLlamaServer, sends_nothing_for_the_first_half_of_a_character) {
  Options options;
  options.truth.split_every = 3;
  MockServer server(options);
  const auto events = support::event_json(server.post("/completion", completion(5)));
  ASSERT_EQ(events.size(), 5u);  // tokens 1, 2, 3 with 4, 5, and the end
  EXPECT_EQ(events[2]["content"], "€");
  EXPECT_EQ(events[2]["tokens"].size(), 1u);
  EXPECT_EQ(events[1]["tokens_predicted"], 2);
  EXPECT_EQ(events[2]["tokens_predicted"], 4);
}

TEST(MockLlamaServer, ends_a_native_stream_with_settings_and_without_a_done_mark) {
  MockServer server(speculating({{3, 3, 0}}));
  const auto data = support::event_data(server.post("/completion", completion(4)));
  const auto last = util::parse_json(data.back(), "event");
  EXPECT_EQ((*last)["stop"], true);
  EXPECT_EQ((*last)["stop_type"], "limit");
  EXPECT_EQ((*last)["content"], "");
  EXPECT_EQ((*last)["generation_settings"]["speculative.types"], "none,draft-mtp");
  EXPECT_EQ((*last)["generation_settings"]["n_predict"], 4);
}

TEST(MockLlamaServer, streams_a_chat_as_role_deltas_finish_usage_and_done_C102_C137) {
  MockServer server(Options{});
  const auto response = server.post("/v1/chat/completions", chat(3));
  EXPECT_EQ(support::event_data(response).back(), "[DONE]");
  const auto events = support::event_json(response);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[0]["choices"][0]["delta"]["role"], "assistant");
  EXPECT_TRUE(events[0]["choices"][0]["delta"]["content"].is_null());
  EXPECT_EQ(events[4]["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(events[5]["choices"].empty());
  EXPECT_EQ(events[5]["usage"]["completion_tokens"], 3);
  EXPECT_EQ(events[5]["timings"]["predicted_n"], 3);
  EXPECT_EQ(events[5]["system_fingerprint"], "b1-de3ff81");
}

TEST(MockLlamaServer, says_reasoning_apart_in_a_chat_C104) {
  Options options;
  options.truth.reasoning_tokens = 2;
  MockServer server(options);
  const auto events = support::event_json(server.post("/v1/chat/completions", chat(3)));
  EXPECT_TRUE(events[1]["choices"][0]["delta"].contains("reasoning_content"));
  EXPECT_TRUE(events[2]["choices"][0]["delta"].contains("reasoning_content"));
  EXPECT_TRUE(events[3]["choices"][0]["delta"].contains("content"));
}

TEST(MockLlamaServer, gives_both_routes_the_text_of_one_prompt) {
  MockServer server(Options{});
  const Json messages = {{{"role", "user"}, {"content", "hi"}}};
  const auto prompt =
      util::parse_json(server.post("/apply-template", {{"messages", messages}}).body, "answer");
  const auto native = util::parse_json(
      server.post("/completion", {{"prompt", (*prompt)["prompt"]}, {"n_predict", 6}}).body, "a");
  const auto chatted = util::parse_json(
      server.post("/v1/chat/completions", {{"messages", messages}, {"max_tokens", 6}}).body, "b");
  EXPECT_EQ((*native)["content"], (*chatted)["choices"][0]["message"]["content"]);
}

TEST(MockLlamaServer, reports_prompt_progress_with_the_token_zero_that_was_never_made) {
  Options options;
  options.truth.prompt_tokens = 10;
  options.truth.prompt_batch = 4;
  MockServer server(options);
  Json body = completion(1);
  body["return_progress"] = true;
  const auto events = support::event_json(server.post("/completion", body));
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[0]["prompt_progress"]["processed"], 0);
  EXPECT_EQ(events[0]["timings"]["prompt_n"], 0);
  EXPECT_EQ(events[1]["prompt_progress"]["processed"], 4);
  EXPECT_EQ(events[3]["prompt_progress"]["processed"], 10);
  EXPECT_EQ(events[3]["tokens"], Json::array({0}));
}

TEST(MockLlamaServer, names_every_metric_of_C117) {
  MockServer server(speculating({{2, 1, 0}}));
  server.post("/completion", completion(9));
  const std::string text = server.get("/metrics").body;
  for (const char* name :
       {"prompt_tokens_total", "prompt_tokens_cached_total", "prompt_seconds_total",
        "tokens_predicted_total", "tokens_predicted_seconds_total", "n_decode_total",
        "n_tokens_max", "spec_decode_num_draft_tokens_total",
        "spec_decode_num_accepted_tokens_total", "spec_decode_num_drafts_total",
        "spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"}", "prompt_tokens_seconds",
        "predicted_tokens_seconds", "requests_processing", "requests_deferred",
        "n_busy_slots_per_decode"})
    EXPECT_TRUE(support::metric_value(text, std::string("llamacpp:") + name)) << name;
}

TEST(MockLlamaServer, starts_its_rate_gauges_anew_at_each_scrape) {
  Options options;
  options.truth.seconds_per_pass = 0.001;
  MockServer server(options);
  server.post("/completion", completion(5));
  const std::string name = "llamacpp:predicted_tokens_seconds";
  EXPECT_NEAR(*support::metric_value(server.get("/metrics").body, name), 1000, 1e-6);
  EXPECT_EQ(support::metric_value(server.get("/metrics").body, name), 0);
}

TEST(MockLlamaServer, hides_in_props_that_it_speculates) {
  MockServer server(speculating({{3, 3, 0}}));
  const auto props = util::parse_json(server.get("/props").body, "props");
  const Json& settings = (*props)["default_generation_settings"];
  EXPECT_EQ(settings["params"]["speculative.types"], "none");
  EXPECT_EQ(settings["params"]["min_p"], 0.05000000074505806);
  EXPECT_EQ(settings["n_ctx"], 4096);
  EXPECT_EQ((*props)["total_slots"], 1);
  EXPECT_EQ((*props)["build_info"], "b1-de3ff81");
}

TEST(MockLlamaServer, tells_the_kind_of_speculation_in_slots_once_it_has_run) {
  MockServer server(speculating({{3, 3, 0}}));
  EXPECT_FALSE((*util::parse_json(server.get("/slots").body, "slots"))[0].contains("params"));
  server.post("/completion", completion(4));
  const auto slots = util::parse_json(server.get("/slots").body, "slots");
  EXPECT_EQ((*slots)[0]["params"]["speculative.types"], "none,draft-mtp");
  EXPECT_EQ((*slots)[0]["speculative"], true);
}

TEST(MockLlamaServer, takes_images_only_where_it_has_a_projector_and_counts_their_tokens) {
  const Json body = {
      {"messages",
       {{{"role", "user"},
         {"content",
          {{{"type", "text"}, {"text", "what is this?"}},
           {{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64,AAAA"}}}}}}}}},
      {"max_tokens", 2}};
  MockServer blind(Options{});
  EXPECT_EQ(blind.post("/v1/chat/completions", body).status, 500);

  Options options;
  options.truth.takes_images = true;
  options.truth.prompt_tokens = 10;
  MockServer server(options);
  const auto answer = util::parse_json(server.post("/v1/chat/completions", body).body, "answer");
  EXPECT_EQ((*answer)["usage"]["prompt_tokens"], 10 + 64);
  EXPECT_THAT(server.get("/props").body, testing::HasSubstr("\"vision\":true"));
}

// The names below were taken from answers of llama-server v0.5.0 (b1-de3ff81) itself.

TEST(MockLlamaServer, has_the_fields_of_the_real_server_in_every_event_and_at_the_end) {
  MockServer server(speculating({{3, 1, 0}}));
  const auto events = support::event_json(server.post("/completion", completion(4)));
  EXPECT_EQ(keys(events[0]),
            (std::set<std::string>{"index", "content", "tokens", "stop", "id_slot",
                                   "tokens_predicted", "tokens_evaluated", "timings"}));
  EXPECT_EQ(keys(events.back()),
            (std::set<std::string>{"index", "content", "tokens", "id_slot", "stop", "model",
                                   "tokens_predicted", "tokens_evaluated", "generation_settings",
                                   "prompt", "has_new_line", "truncated", "stop_type",
                                   "stopping_word", "tokens_cached", "timings"}));
  const auto chunks = support::event_json(server.post("/v1/chat/completions", chat(2)));
  EXPECT_EQ(keys(chunks[0]), (std::set<std::string>{"choices", "created", "id", "model",
                                                    "system_fingerprint", "object"}));
  EXPECT_EQ(keys(chunks.back()),
            (std::set<std::string>{"choices", "created", "id", "model", "system_fingerprint",
                                   "object", "usage", "timings"}));
}

TEST(MockLlamaServer, has_the_fields_of_the_real_server_in_props) {
  MockServer server(Options{});
  const auto props = util::parse_json(server.get("/props").body, "props");
  EXPECT_EQ(keys(*props),
            (std::set<std::string>{
                "default_generation_settings", "total_slots", "model_alias", "model_ftype",
                "model_path", "modalities", "media_marker", "endpoint_slots", "endpoint_props",
                "endpoint_metrics", "ui", "ui_settings", "chat_template", "chat_template_caps",
                "bos_token", "eos_token", "build_info", "is_sleeping", "cors_proxy_enabled"}));
  EXPECT_EQ(keys((*props)["default_generation_settings"]["params"]).size(), 42u);
}

TEST(MockLlamaServer, answers_an_unknown_path_and_a_broken_body_with_its_error_object) {
  MockServer server(Options{});
  EXPECT_EQ(server.get("/nothing").status, 404);
  const auto response = server.post("/completion", Json::array());
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, testing::HasSubstr("invalid_request_error"));
}

TEST(MockIkLlama, counts_rates_over_all_tokens_and_drafts_by_depth) {
  Options options = speculating({{2, 1, 0}, {1, 0, 0}});
  options.dialect = "ik_llama.cpp";
  options.truth.seconds_per_pass = 0.001;
  MockServer server(options);
  // 1 + 2 + 1 + 2 = 6 tokens of 3 passes.
  const auto answer = util::parse_json(
      server.post("/completion", {{"prompt", "hello"}, {"n_predict", 6}}).body, "answer");
  const Json& timings = (*answer)["timings"];
  EXPECT_DOUBLE_EQ(timings["predicted_ms"], 3.0);
  EXPECT_DOUBLE_EQ(timings["predicted_per_second"], 2000.0);
  EXPECT_FALSE(timings.contains("cache_n"));
  const Json expected = {{{"depth", 1}, {"draft_n", 3}, {"draft_n_accepted", 2}},
                         {{"depth", 2}, {"draft_n", 2}, {"draft_n_accepted", 0}}};
  // The last draft is cut to one token by the limit.
  EXPECT_EQ(timings["draft_by_depth"][0], expected[0]);
  EXPECT_EQ(timings["draft_by_depth"][1]["depth"], 2);
  EXPECT_FALSE(util::parse_json(server.get("/props").body, "props")->contains("build_info"));
}

}  // namespace
}  // namespace paceline::mock
