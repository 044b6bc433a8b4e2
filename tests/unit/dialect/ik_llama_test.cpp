#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;

TEST(IkLlama, drafts_by_depth_are_positions_from_1) {
  const Message message = read_message("ik_llama", R"({"content":"","stop":true,"stopped_eos":false,
    "stopped_limit":true,"tokens_predicted":256,"tokens_evaluated":40,"timings":{"prompt_n":40,
    "prompt_ms":20,"predicted_n":256,"predicted_ms":5000,"predicted_per_second":51.2,"n_ctx":4096,
    "n_past":295,"draft_n":30,"draft_n_accepted":12,"draft_by_depth":[
    {"depth":1,"draft_n":20,"draft_n_accepted":10},{"depth":2,"draft_n":10,"draft_n_accepted":2}]}})");
  EXPECT_EQ(message.stop, trace::StopReason::limit);
  EXPECT_EQ(values_of(message.said, Quantity::offered_at), (std::vector<double>{20, 10}));
  EXPECT_EQ(values_of(message.said, Quantity::accepted_at), (std::vector<double>{10, 2}));
  EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 20);
  EXPECT_EQ(value_of(message.said, Quantity::offered), 30);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 12);
  EXPECT_EQ(value_of(message.said, Quantity::prompt_cached), 0) << "40 of 40 were processed";
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "n/t: the first token counts"))
      << "256 / 5 s = 51.2; 255 / 5 s = 51.0";
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(IkLlama, depths_that_are_none_are_oddities) {
  for (const char* depth : {"0", "-1", "5000", "\"1\"", "1.5"}) {
    const Message message = read_message(
        "ik_llama", R"({"stop":true,"timings":{"draft_by_depth":[{"depth":)" + std::string(depth) +
                        R"(,"draft_n":1,"draft_n_accepted":1}]}})");
    EXPECT_TRUE(values_of(message.said, Quantity::offered_at).empty()) << depth;
    EXPECT_FALSE(message.oddities.empty()) << depth;
  }
}

TEST(IkLlama, facts_have_the_context_of_the_whole_server) {
  trace::EngineFacts facts;
  find("ik_llama")
      ->read_facts(
          answers_of({{"/props", R"({"system_prompt":"","default_generation_settings":{"n_ctx":2048,
        "temperature":0.8,"top_k":40,"samplers":["top_k","temperature"]},"total_slots":2,
        "chat_template":"x","model_path":"/m.gguf","modalities":{"vision":false},
        "n_ctx":4100})"}}),
          facts);
  EXPECT_EQ(facts.n_ctx, 4100);
  EXPECT_EQ(facts.server->n_ctx_slot, 2048);
  EXPECT_EQ(trace::in_force(facts.sampling, "top_k"), 40) << "its settings have no params";
  EXPECT_EQ(facts.build, "") << "it does not say its build there";
}

}  // namespace
}  // namespace paceline::dialect
