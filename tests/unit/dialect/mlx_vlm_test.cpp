#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;

TEST(MlxVlm, C130_rounds_are_passes_with_a_draft) {
  const Message message = read_message("mlx_vlm", R"({"choices":[{"index":0,"delta":{"role":
    "assistant"},"finish_reason":"length"}],"usage":{"prompt_tokens":20,"completion_tokens":111},
    "timings":{"prompt_n":20,"cache_n":0,"predicted_n":111,"predicted_ms":1110.0,
    "predicted_per_second":100.0,"draft_kind":"mtp","draft_rounds":30,"draft_n":90,
    "draft_n_accepted":81}})");
  EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 30);
  EXPECT_EQ(value_of(message.said, Quantity::offered), 90);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 81) << "81 + 30 = 111 tokens";
  EXPECT_EQ(message.speculates, true);
  EXPECT_EQ(message.spec_types, (std::vector<std::string>{"mtp"}));
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "n/t"));
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(MlxVlm, C130_more_accepted_than_emitted_is_said_as_it_is) {
  const Message message = read_message("mlx_vlm", R"({"choices":[],"timings":{"predicted_n":2,
    "predicted_ms":50,"draft_rounds":1,"draft_n":7,"draft_n_accepted":6}})");
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 6);
  EXPECT_EQ(value_of(message.said, Quantity::output_tokens), 2);
  EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 1);
}

TEST(MlxVlm, facts_come_from_health) {
  trace::EngineFacts facts;
  find("mlx_vlm")->read_facts(
      answers_of({{"/health", R"({"status":"healthy","loaded_model":"mlx/q","loaded_adapter":null,
        "loaded_context_size":null,"effective_context_limit":16384})"}}),
      facts);
  EXPECT_EQ(facts.server->model, "mlx/q");
  EXPECT_EQ(facts.n_ctx, 16384);
}

TEST(MlxVlm, it_has_no_route_for_text) {
  protocol::Generate job;
  job.prompt = "x";
  EXPECT_EQ(find("mlx_vlm")->cannot_ask({job, "m"}),
            (std::vector<std::string>{"a prompt as text"}));
}

}  // namespace
}  // namespace paceline::dialect
