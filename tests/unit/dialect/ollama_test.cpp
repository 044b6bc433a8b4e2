#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;
using trace::StopReason;

Message read(std::string_view text) { return read_message("ollama", text); }

TEST(Ollama, lines_of_both_routes_carry_text_and_thinking) {
  const Message chat = read(R"({"model":"m","created_at":"2026","message":{"role":"assistant",
    "content":"Hi","thinking":"hm"},"done":false})");
  EXPECT_EQ(chat.content, "Hi");
  EXPECT_EQ(chat.reasoning, "hm");
  EXPECT_TRUE(chat.has_tokens);
  EXPECT_EQ(read(R"({"response":"Hi","done":false})").content, "Hi");
  EXPECT_FALSE(read(R"({"response":"","done":false})").has_tokens);
  EXPECT_EQ(find("ollama")->framing(), Framing::lines);
}

TEST(Ollama, C126_the_last_line_has_counts_and_nanoseconds) {
  const Message message = read(R"({"done":true,"done_reason":"stop","context":[1,2],
    "total_duration":256103089,"load_duration":144586102,"prompt_eval_count":10,
    "prompt_eval_duration":24000000,"eval_count":15,"eval_duration":86000000,
    "message":{"role":"assistant","content":""}})");
  EXPECT_EQ(message.stop, StopReason::eos);
  EXPECT_EQ(message.chunk.output_tokens, 15);
  EXPECT_FALSE(message.has_tokens);
  EXPECT_EQ(value_of(message.said, Quantity::prompt_tokens), 10);
  EXPECT_NEAR(*value_of(message.said, Quantity::prefill_s), 0.024, 1e-12);
  EXPECT_NEAR(*value_of(message.said, Quantity::decode_s), 0.086, 1e-12);
  EXPECT_EQ(said_of(message.said, Quantity::output_tokens)->endpoint, "/api/chat");
  for (const Quantity quantity :
       {Quantity::accepted, Quantity::offered, Quantity::prompt_cached, Quantity::prompt_processed})
    EXPECT_FALSE(value_of(message.said, quantity)) << "not in the object";
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(Ollama, C141_cached_tokens_absent_null_and_zero_are_three_states) {
  const auto last = [](const std::string& cached) {
    return read(R"({"response":"","done":true,"prompt_eval_count":40,"eval_count":5)" + cached +
                "}")
        .said;
  };
  EXPECT_FALSE(value_of(last(""), Quantity::prompt_cached));
  EXPECT_FALSE(value_of(last(R"(,"prompt_eval_cached_count":null)"), Quantity::prompt_cached));
  EXPECT_EQ(value_of(last(R"(,"prompt_eval_cached_count":0)"), Quantity::prompt_cached), 0);
  EXPECT_EQ(value_of(last(R"(,"prompt_eval_cached_count":0)"), Quantity::prompt_processed), 40);
  EXPECT_EQ(value_of(last(R"(,"prompt_eval_cached_count":32)"), Quantity::prompt_processed), 8);
  EXPECT_FALSE(value_of(last(R"(,"prompt_eval_cached_count":41)"), Quantity::prompt_processed));
}

TEST(Ollama, C234_a_prompt_of_no_tokens_is_no_count) {
  const Message absent = read(R"({"response":"","done":true,"eval_count":5})");
  EXPECT_FALSE(value_of(absent.said, Quantity::prompt_tokens));
  EXPECT_TRUE(absent.oddities.empty());
  const Message zero = read(R"({"response":"","done":true,"prompt_eval_count":0,"eval_count":5})");
  EXPECT_FALSE(value_of(zero.said, Quantity::prompt_tokens));
  EXPECT_TRUE(holds(joined(zero.oddities), "prompt_eval_count is 0"));
}

TEST(Ollama, C128_durations_in_other_units_are_found_and_dropped) {
  // rkllama: the whole in nanoseconds, the parts in milliseconds, the load a constant.
  const Message message = read(R"({"response":"","done":true,"done_reason":"stop",
    "total_duration":3200000000,"load_duration":100000000,"prompt_eval_count":12,
    "prompt_eval_duration":400,"eval_count":60,"eval_duration":2700})");
  EXPECT_FALSE(value_of(message.said, Quantity::decode_s));
  EXPECT_FALSE(value_of(message.said, Quantity::prefill_s));
  EXPECT_EQ(value_of(message.said, Quantity::output_tokens), 60);
  EXPECT_TRUE(holds(joined(message.oddities), "not in nanoseconds"));
}

TEST(Ollama, C128_parts_longer_than_the_whole_are_found) {
  const Message message = read(R"({"response":"","done":true,"total_duration":100000000,
    "load_duration":50000000,"eval_count":6,"eval_duration":60000000})");
  EXPECT_FALSE(value_of(message.said, Quantity::decode_s));
  EXPECT_TRUE(holds(joined(message.oddities), "longer than the whole"));
}

TEST(Ollama, C233_a_prefill_faster_than_any_engine_is_found) {
  // 139,356 tok/s was the last batch only: it is in nanoseconds and no unit tells. Ten times the
  // fastest engine is no unit either.
  const Message message = read(R"({"response":"","done":true,"total_duration":900000000,
    "prompt_eval_count":30000,"prompt_eval_duration":2000,"eval_count":2,
    "eval_duration":20000000})");
  EXPECT_FALSE(value_of(message.said, Quantity::prefill_s));
  EXPECT_EQ(message.oddities.size(), 1u);
}

TEST(Ollama, reasons_for_the_end_are_read) {
  const auto stop = [](const char* reason) {
    return read(R"({"response":"","done":true,"done_reason":")" + std::string(reason) + R"("})");
  };
  EXPECT_EQ(stop("length").stop, StopReason::limit);
  EXPECT_EQ(stop("stop").stop, StopReason::eos);
  EXPECT_EQ(stop("load").stop, StopReason::none);
  EXPECT_FALSE(stop("load").oddities.empty());
  EXPECT_EQ(read(R"({"response":"","done":true})").stop, StopReason::none);
}

TEST(Ollama, errors_are_texts) {
  EXPECT_EQ(read(R"({"error":"model 'x' not found"})").error, "model 'x' not found");
}

TEST(Ollama, text_goes_past_the_template_and_messages_through_it) {
  protocol::Generate job;
  job.prompt = "once";
  job.n_predict = 12;
  job.seed = 3;
  job.sampling.min_p = 0.1;
  job.sampling.tool_temp = 0.7;
  const auto* dialect = find("ollama");
  const auto raw = dialect->generate({job, "m"});
  EXPECT_EQ(raw.target, "/api/generate");
  EXPECT_EQ(body_of(raw), util::Json::parse(R"({"model":"m","prompt":"once","raw":true,
    "stream":true,"options":{"num_predict":12,"min_p":0.1,"temperature":0.7,"seed":3}})"))
      << raw.body;
  job.messages = {{"user", "see", {"data:image/png;base64,QUJD"}}};
  const auto chat = dialect->generate({job, "m"});
  EXPECT_EQ(chat.target, "/api/chat");
  EXPECT_EQ(body_of(chat)["messages"],
            util::Json::parse(R"([{"role":"user","content":"see","images":["QUJD"]}])"));
  EXPECT_TRUE(dialect->cannot_ask({job, "m"}).empty());
}

TEST(Ollama, what_it_has_no_field_for_is_named) {
  protocol::Generate job;
  job.prompt_tokens = {1};
  job.ignore_eos = true;
  job.sampling.xtc_probability = 0.5;
  job.messages = {{"user", "see", {"http://elsewhere/x.png"}}};
  EXPECT_EQ(find("ollama")->cannot_ask({job, "m"}),
            (std::vector<std::string>{"xtc_probability", "ignore_eos", "prompt_tokens", "images"}));
}

TEST(Ollama, C254_facts_have_the_context_that_is_loaded) {
  trace::EngineFacts facts;
  const auto* dialect = find("ollama");
  dialect->read_facts(
      answers_of({{"/api/version", R"({"version":"0.14.2"})"},
                  {"/api/ps", R"({"models":[{"name":"qwen3:4b","context_length":4096,
                    "details":{"quantization_level":"Q4_K_M"}}]})"},
                  {"/api/tags", R"({"models":[{"name":"a"},{"name":"b"}]})"}}),
      facts);
  EXPECT_EQ(facts.version, "0.14.2");
  EXPECT_EQ(facts.n_ctx, 4096);
  EXPECT_EQ(facts.server->model, "qwen3:4b");
  const auto request = dialect->fact_request("qwen3:4b");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, "/api/show");
  dialect->read_fact_answer(
      {200,
       {},
       R"({"parameters":"temperature                    0.6\ntop_k 20\nstop \"<|x|>\"\ndraft_num_predict 4","template":"{{ .Prompt }}","details":{"quantization_level":"Q8_0"},
        "model_info":{"general.architecture":"qwen3","general.parameter_count":4022468096,
        "qwen3.context_length":262144},"capabilities":["completion","vision"]})"},
      facts);
  EXPECT_EQ(facts.server->quant, "Q8_0");
  EXPECT_EQ(facts.target.architecture, "qwen3");
  EXPECT_EQ(facts.target.context_train, 262144);
  EXPECT_EQ(facts.server->takes_images, true);
  EXPECT_EQ(facts.server->draft_n_max, 4);
  EXPECT_EQ(trace::in_force(facts.sampling, "temp"), 0.6);
  EXPECT_EQ(trace::in_force(facts.sampling, "top_k"), 20);
  EXPECT_EQ(facts.sampling.settings.size(), 2u);
}

}  // namespace
}  // namespace paceline::dialect
