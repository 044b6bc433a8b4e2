#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;
using trace::StopReason;

Message read(std::string_view text) { return read_message("openai", text); }

TEST(OpenAi, C133_usage_comes_behind_the_end_with_or_without_empty_choices) {
  for (const char* text :
       {R"({"id":"x","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}})",
        R"({"id":"x","usage":{"prompt_tokens":9,"completion_tokens":4}})",
        R"({"id":"x","choices":null,"usage":{"prompt_tokens":9,"completion_tokens":4}})"}) {
    const Message message = read(text);
    EXPECT_EQ(message.chunk.output_tokens, 4) << text;
    EXPECT_EQ(value_of(message.said, Quantity::output_tokens), 4) << text;
    EXPECT_EQ(value_of(message.said, Quantity::prompt_tokens), 9) << text;
    EXPECT_FALSE(message.has_tokens) << text;
    EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
  }
}

TEST(OpenAi, C133_metadata_without_choices_in_the_middle_says_nothing) {
  const Message message = read(R"({"id":"x","choices":[],"x_meta":{"a":1}})");
  EXPECT_FALSE(message.has_tokens);
  EXPECT_FALSE(message.stop);
  EXPECT_TRUE(message.said.empty());
}

TEST(OpenAi, C137_a_role_without_text_is_no_output) {
  const Message role = read(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})");
  EXPECT_FALSE(role.has_tokens);
  EXPECT_FALSE(read(R"({"choices":[{"delta":{"role":"assistant","content":null}}]})").has_tokens);
  const Message thinking = read(R"({"choices":[{"delta":{"reasoning_content":"Okay"}}]})");
  EXPECT_TRUE(thinking.has_tokens);
  EXPECT_EQ(thinking.reasoning, "Okay");
}

TEST(OpenAi, C138_reasoning_has_two_names_and_is_counted_once) {
  EXPECT_EQ(read(R"({"choices":[{"delta":{"reasoning":"hm"}}]})").reasoning, "hm");
  EXPECT_EQ(
      read(R"({"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]})").reasoning,
      "hm");
  const Message blank = read(R"({"choices":[{"delta":{"content":"\n\n"}}]})");
  EXPECT_TRUE(blank.has_tokens) << "a first visible chunk of two line ends is output";
  EXPECT_EQ(blank.chunk.content_bytes, 2);
}

TEST(OpenAi, C226_reasoning_and_content_are_both_output) {
  const Message both =
      read(R"({"choices":[{"delta":{"reasoning_content":"ab","content":"cde"}}]})");
  EXPECT_EQ(both.chunk.reasoning_bytes, 2);
  EXPECT_EQ(both.chunk.content_bytes, 3);
}

TEST(OpenAi, C141_cached_tokens_absent_null_and_zero_are_three_states) {
  const auto cached = [](const std::string& details) {
    return value_of(
        read(R"({"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":4)" + details + "}}")
            .said,
        Quantity::prompt_cached);
  };
  EXPECT_FALSE(cached(""));
  EXPECT_FALSE(cached(R"(,"prompt_tokens_details":null)"));
  EXPECT_FALSE(cached(R"(,"prompt_tokens_details":{"cached_tokens":null})"));
  EXPECT_EQ(cached(R"(,"prompt_tokens_details":{"cached_tokens":0})"), 0);
  EXPECT_EQ(cached(R"(,"prompt_tokens_details":{"cached_tokens":64})"), 64);
  EXPECT_EQ(cached(R"(,"input_tokens_details":{"cached_tokens":64})"), 64);
  EXPECT_EQ(cached(R"(,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":30)"), 60);
}

TEST(OpenAi, C236_what_was_processed_is_the_prompt_less_the_cached_part) {
  const Message message = read(R"({"choices":[],"usage":{"prompt_tokens":90,
    "completion_tokens":4,"prompt_tokens_details":{"cached_tokens":64}}})");
  EXPECT_EQ(value_of(message.said, Quantity::prompt_processed), 26);
  const Message lie = read(R"({"choices":[],"usage":{"prompt_tokens":9,
    "completion_tokens":4,"prompt_tokens_details":{"cached_tokens":64}}})");
  EXPECT_FALSE(value_of(lie.said, Quantity::prompt_processed));
  EXPECT_TRUE(holds(joined(lie.oddities), "is more than usage.prompt_tokens"));
}

TEST(OpenAi, reasoning_tokens_are_a_part_of_the_output) {
  const Message message = read(R"({"choices":[],"usage":{"completion_tokens":40,
    "completion_tokens_details":{"reasoning_tokens":25}}})");
  EXPECT_EQ(value_of(message.said, Quantity::reasoning_tokens), 25);
  const Message lie = read(R"({"choices":[],"usage":{"completion_tokens":4,
    "reasoning_tokens":25}})");
  EXPECT_FALSE(value_of(lie.said, Quantity::reasoning_tokens));
  EXPECT_TRUE(holds(joined(lie.oddities), "more than usage.completion_tokens"));
}

TEST(OpenAi, C229_a_negative_output_length_is_dropped) {
  const Message message = read(R"({"choices":[],"usage":{"completion_tokens":-275253488}})");
  EXPECT_FALSE(message.chunk.output_tokens);
  EXPECT_TRUE(message.said.empty());
  EXPECT_TRUE(holds(joined(message.oddities), "usage.completion_tokens is not a whole number"));
}

TEST(OpenAi, usage_in_the_middle_is_a_running_total_only) {
  const Message message =
      read(R"({"choices":[{"delta":{"content":"a b c"}}],"usage":{"completion_tokens":3}})");
  EXPECT_EQ(message.chunk.output_tokens, 3);
  EXPECT_TRUE(message.said.empty());
}

TEST(OpenAi, finish_reasons_are_stops_or_errors) {
  const auto with = [](const char* reason) {
    return read(R"({"choices":[{"delta":{},"finish_reason":")" + std::string(reason) + R"("}]})");
  };
  EXPECT_EQ(with("stop").stop, StopReason::eos);
  EXPECT_EQ(with("length").stop, StopReason::limit);
  EXPECT_EQ(with("tool_calls").stop, StopReason::eos);
  EXPECT_TRUE(with("abort").error);
  EXPECT_EQ(with("banana").stop, StopReason::none);
  EXPECT_TRUE(holds(joined(with("banana").oddities), "banana"));
  EXPECT_FALSE(read(R"({"choices":[{"delta":{"content":"a"},"finish_reason":null}]})").stop);
}

TEST(OpenAi, C210_errors_in_a_stream_have_many_shapes) {
  for (const char* text :
       {R"({"error":{"message":"out of memory","code":500}})", R"({"error":"out of memory"})",
        R"({"object":"error","message":"out of memory","code":500})",
        R"({"detail":"out of memory"})"}) {
    const Message message = read(text);
    ASSERT_TRUE(message.error) << text;
    EXPECT_TRUE(holds(*message.error, "out of memory")) << *message.error;
  }
  EXPECT_FALSE(read(R"({"error":null,"choices":[]})").error);
}

TEST(OpenAi, a_whole_answer_is_read_like_a_stream_of_one_message) {
  const Message message = read(R"({"object":"chat.completion","choices":[{"index":0,"message":
    {"role":"assistant","content":"hello"},"finish_reason":"length"}],"usage":
    {"prompt_tokens":3,"completion_tokens":2}})");
  EXPECT_EQ(message.content, "hello");
  EXPECT_TRUE(message.has_tokens);
  EXPECT_EQ(message.stop, StopReason::limit);
  EXPECT_EQ(value_of(message.said, Quantity::output_tokens), 2);
}

TEST(OpenAi, the_route_is_told_from_the_message) {
  const auto endpoint = [](const char* text) {
    return said_of(read(text).said, Quantity::output_tokens)->endpoint;
  };
  EXPECT_EQ(endpoint(R"({"object":"text_completion","choices":[],"usage":
    {"completion_tokens":1}})"),
            "/v1/completions");
  EXPECT_EQ(endpoint(R"({"choices":[{"text":"","finish_reason":"stop"}],"usage":
    {"completion_tokens":1}})"),
            "/v1/completions");
  EXPECT_EQ(endpoint(R"({"object":"chat.completion.chunk","choices":[],"usage":
    {"completion_tokens":1}})"),
            "/v1/chat/completions");
}

TEST(OpenAi, hostile_shapes_are_oddities_and_never_more) {
  for (const char* text :
       {R"({"choices":7})", R"({"choices":[7]})", R"({"choices":[{"delta":[]}]})",
        R"({"choices":[{"delta":{"content":["a"]}}]})", R"({"choices":[{"token_ids":{}}]})",
        R"({"choices":[],"usage":[]})", R"({"choices":[{},{}]})",
        R"({"choices":[{"finish_reason":3}]})"}) {
    const Message message = read(text);
    EXPECT_FALSE(message.has_tokens) << text;
    EXPECT_EQ(message.oddities.size(), 1u) << text << joined(message.oddities);
  }
}

TEST(OpenAi, requests_ask_for_usage_and_name_what_has_no_field) {
  protocol::Generate job;
  job.messages = {{"system", "s"}, {"user", "u"}};
  job.n_predict = 5;
  job.sampling.temp = 0.5;
  job.sampling.typical_p = 0.9;
  job.sampling.samplers = "top_k";
  job.ignore_eos = true;
  const auto* dialect = find("openai");
  const auto request = dialect->generate({job, "gpt"});
  EXPECT_EQ(request.target, "/v1/chat/completions");
  EXPECT_EQ(body_of(request), util::Json::parse(R"({"model":"gpt","messages":[{"role":"system",
    "content":"s"},{"role":"user","content":"u"}],"stream":true,"max_tokens":5,"temperature":0.5,
    "seed":0,"stream_options":{"include_usage":true}})"))
      << request.body;
  EXPECT_EQ(dialect->cannot_ask({job, "gpt"}),
            (std::vector<std::string>{"typical_p", "samplers", "ignore_eos"}));
  job.messages.clear();
  job.prompt_tokens = {1};
  EXPECT_EQ(dialect->generate({job, "gpt"}).target, "/v1/completions");
  EXPECT_EQ(dialect->cannot_ask({job, "gpt"}).back(), "prompt_tokens");
}

TEST(OpenAi, facts_are_the_model_and_whoever_owns_it) {
  trace::EngineFacts facts;
  find("openai")->read_facts(
      answers_of(
          {{"/v1/models", R"({"data":[{"id":"m","owned_by":"somebody","max_model_len":4096}]})"}}),
      facts);
  EXPECT_EQ(facts.engine, "somebody");
  EXPECT_EQ(facts.target.name, "m");
  EXPECT_EQ(facts.server->model, "m");
  EXPECT_EQ(facts.n_ctx, 4096);
}

}  // namespace
}  // namespace paceline::dialect
