#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;

TEST(LmStudio, C129_a_rate_of_another_window_is_named_as_such) {
  const Message message = read_message("lm_studio", R"({"object":"chat.completion","choices":[
    {"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"x"}}],"usage":
    {"prompt_tokens":24,"completion_tokens":53,"total_tokens":77},"stats":
    {"tokens_per_second":51.437,"time_to_first_token":0.111,"generation_time":0.954,
    "stop_reason":"eosFound"},"model_info":{"arch":"granite","quant":"Q4_K_M","format":"gguf",
    "context_length":4096},"runtime":{"name":"llama.cpp","version":"1.3.0"}})");
  EXPECT_EQ(value_of(message.said, Quantity::output_tokens), 53);
  EXPECT_EQ(said_of(message.said, Quantity::output_tokens)->endpoint, "/api/v0/chat/completions");
  EXPECT_EQ(value_of(message.said, Quantity::ttft_s), 0.111);
  EXPECT_EQ(value_of(message.said, Quantity::decode_s), 0.954);
  EXPECT_EQ(value_of(message.said, Quantity::tokens_per_s), 51.437);
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "neither"))
      << "53 / 0.954 = 55.6 and 52 / 0.954 = 54.5";
  EXPECT_TRUE(holds(joined(message.oddities), "of another window"));
  EXPECT_FALSE(message.speculates) << "no drafter: its counts are absent";
  EXPECT_EQ(message.stop, trace::StopReason::eos);
}

TEST(LmStudio, C129_the_second_sample_agrees_with_n_over_t) {
  const Message message = read_message("lm_studio", R"({"choices":[],"usage":
    {"completion_tokens":9},"stats":{"tokens_per_second":57.69,"generation_time":0.156}})");
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "n/t")) << "9 / 0.156 = 57.69";
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(LmStudio, C129_C205_ignored_draft_tokens_were_never_offered) {
  const Message message = read_message("lm_studio", R"({"choices":[],"usage":
    {"completion_tokens":50},"stats":{"stop_reason":"maxPredictedTokensReached",
    "draft_model":"d","total_draft_tokens_count":48,"accepted_draft_tokens_count":30,
    "rejected_draft_tokens_count":12,"ignored_draft_tokens_count":6}})");
  EXPECT_EQ(value_of(message.said, Quantity::generated), 48);
  EXPECT_EQ(value_of(message.said, Quantity::offered), 42);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 30);
  EXPECT_EQ(message.speculates, true);
  EXPECT_EQ(message.stop, trace::StopReason::limit);
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
  const Message lie = read_message("lm_studio", R"({"choices":[],"stats":{
    "total_draft_tokens_count":50,"accepted_draft_tokens_count":30,
    "rejected_draft_tokens_count":12,"ignored_draft_tokens_count":6}})");
  EXPECT_TRUE(holds(joined(lie.oddities), "is not the sum"));
}

TEST(LmStudio, statistics_of_api_v1_have_other_names) {
  const Message message = read_message("lm_studio", R"({"type":"chat.end","result":{"stats":
    {"input_tokens":20,"total_output_tokens":30,"reasoning_output_tokens":10,
    "tokens_per_second":40.5,"time_to_first_token_seconds":0.2}}})");
  EXPECT_EQ(value_of(message.said, Quantity::prompt_tokens), 20);
  EXPECT_EQ(value_of(message.said, Quantity::output_tokens), 30);
  EXPECT_EQ(value_of(message.said, Quantity::reasoning_tokens), 10);
  EXPECT_EQ(value_of(message.said, Quantity::ttft_s), 0.2);
  EXPECT_EQ(said_of(message.said, Quantity::ttft_s)->endpoint, "/api/v1/chat");
}

TEST(LmStudio, a_context_that_is_full_ends_the_answer_and_a_failure_is_an_error) {
  const auto with = [](const char* reason) {
    return read_message("lm_studio", R"({"choices":[{"delta":{},"finish_reason":"length"}],
      "stats":{"stop_reason":")" + std::string(reason) +
                                         R"("}})");
  };
  EXPECT_EQ(with("contextLengthReached").stop, trace::StopReason::context);
  EXPECT_TRUE(with("modelUnloaded").error);
  EXPECT_EQ(with("banana").oddities.size(), 1u);
}

TEST(LmStudio, facts_are_of_the_only_model_that_is_loaded) {
  trace::EngineFacts facts;
  find("lm_studio")
      ->read_facts(answers_of({{"/api/v0/models", R"({"object":"list","data":[
            {"id":"a","type":"llm","state":"not-loaded","quantization":"Q8_0"},
            {"id":"e","type":"embeddings","state":"loaded"},
            {"id":"qwen2-vl","type":"vlm","arch":"qwen2_vl","compatibility_type":"gguf",
             "quantization":"4bit","state":"loaded","max_context_length":32768,
             "loaded_context_length":8192}]})"},
                               {"/api/v1/models", R"({"models":[{"type":"llm","key":"qwen2-vl",
            "quantization":{"name":"Q4_K_M"},"loaded_instances":[{"id":"x","config":
            {"context_length":8192,"flash_attention":true}}],"capabilities":
            {"vision":true}}]})"}}),
                   facts);
  EXPECT_EQ(facts.server->model, "qwen2-vl");
  EXPECT_EQ(facts.server->quant, "4bit");
  EXPECT_EQ(facts.n_ctx, 8192);
  EXPECT_EQ(facts.target.context_train, 32768);
  EXPECT_EQ(facts.server->takes_images, true);
  EXPECT_TRUE(facts.flash_attention);
  trace::EngineFacts two;
  find("lm_studio")
      ->read_facts(answers_of({{"/api/v0/models", R"({"data":[{"id":"a","state":"loaded"},
        {"id":"b","state":"loaded"}]})"}}),
                   two);
  EXPECT_FALSE(two.server->model) << "nobody can tell which one is measured";
}

TEST(LmStudio, requests_go_through_api_v0) {
  protocol::Generate job;
  job.messages = {{"user", "u"}};
  job.sampling.penalty_repeat = 1.2;
  const auto request = find("lm_studio")->generate({job, "m"});
  EXPECT_EQ(request.target, "/api/v0/chat/completions");
  EXPECT_EQ(body_of(request)["repeat_penalty"], 1.2);
  job.messages.clear();
  EXPECT_EQ(find("lm_studio")->generate({job, "m"}).target, "/api/v0/completions");
}

}  // namespace
}  // namespace paceline::dialect
