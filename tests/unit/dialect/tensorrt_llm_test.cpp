#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;

TEST(TensorrtLlm, statistics_of_a_request_are_said) {
  const Message message = read_message("tensorrt_llm", R"({"choices":[{"index":0,"delta":{},
    "finish_reason":"length","avg_decoded_tokens_per_iter":2.5,"speculative_decoding":{
    "acceptance_rate":0.5,"total_accepted_draft_tokens":30,"total_draft_tokens":60,
    "num_spec_steps":20,"acceptance_histogram":[8,0,6,6],"num_spec_tokens":3}}]})");
  // By hand: 8+0+6+6 = 20 steps; 6*2 + 6*3 = 30 accepted; 1 + 30/20 = 2.5.
  EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 20);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 30);
  EXPECT_EQ(value_of(message.said, Quantity::offered), 60);
  EXPECT_EQ(value_of(message.said, Quantity::acceptance_length), 2.5);
  EXPECT_EQ(values_of(message.said, Quantity::accepted_lengths), (std::vector<double>{8, 0, 6, 6}));
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(TensorrtLlm, C212_drafts_made_up_from_the_longest_one_are_not_observed) {
  const Message message = read_message("tensorrt_llm", R"({"avg_decoded_tokens_per_iter":2.5,
    "choices":[],"speculative_decoding":{"acceptance_rate":0.476,
    "total_accepted_draft_tokens":30,"total_draft_tokens":63,"num_spec_steps":20,
    "num_spec_tokens":3}})");
  EXPECT_FALSE(value_of(message.said, Quantity::offered)) << "3 * (20 + 1)";
  EXPECT_FALSE(value_of(message.said, Quantity::acceptance_rate));
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 30);
  EXPECT_TRUE(holds(joined(message.oddities), "made up, not observed"));
}

TEST(TensorrtLlm, statistics_that_were_never_filled_in_say_nothing) {
  const Message message = read_message("tensorrt_llm", R"({"choices":[],
    "avg_decoded_tokens_per_iter":0.0,"speculative_decoding":{"acceptance_rate":0.0,
    "total_accepted_draft_tokens":0,"total_draft_tokens":0,"num_spec_steps":0}})");
  EXPECT_TRUE(message.said.empty());
  EXPECT_TRUE(holds(joined(message.oddities), "never filled in"));
}

TEST(TensorrtLlm, C121_what_is_emptied_by_reading_it_is_never_asked_for) {
  const auto* dialect = find("tensorrt_llm");
  for (const auto& target : dialect->fact_targets()) EXPECT_NE(target, "/metrics");
  EXPECT_EQ(dialect->counters_target(), "/prometheus/metrics");
  for (const auto& target : probe_targets()) EXPECT_FALSE(holds(target, "metrics")) << target;
  EXPECT_FALSE(dialect->read_counters(R"([{"iter":60,"specDecodingStats":null}])"));
}

std::string reading(int drafted, int accepted, const std::string& lists) {
  return "trtllm_spec_decode_num_draft_tokens_total{model_name=\"m\"} " + std::to_string(drafted) +
         "\ntrtllm_spec_decode_num_accepted_tokens_total{model_name=\"m\"} " +
         std::to_string(accepted) + "\ntrtllm_spec_decode_acceptance_length 2.5\n" + lists;
}

TEST(TensorrtLlm, counters_by_position_give_the_passes) {
  const auto lists = [](int a, int b, int c, int d) {
    const std::string drafted = "trtllm_spec_decode_drafted_tokens_total{token_position=\"";
    const std::string accepted = "trtllm_spec_decode_accepted_tokens_total{token_position=\"";
    return drafted + "0\"} " + std::to_string(a) + "\n" + drafted + "1\"} " + std::to_string(b) +
           "\n" + accepted + "0\"} " + std::to_string(c) + "\n" + accepted + "1\"} " +
           std::to_string(d) + "\n";
  };
  const auto* dialect = find("tensorrt_llm");
  const Moved moved =
      dialect->moved(counters_of("tensorrt_llm", reading(10, 5, lists(6, 4, 3, 2))),
                     counters_of("tensorrt_llm", reading(50, 35, lists(26, 24, 21, 14))), 51);
  EXPECT_EQ(value_of(moved.said, Quantity::offered), 40);
  EXPECT_EQ(value_of(moved.said, Quantity::accepted), 30);
  EXPECT_EQ(value_of(moved.said, Quantity::passes_speculative), 20);
  EXPECT_EQ(values_of(moved.said, Quantity::offered_at), (std::vector<double>{20, 20}));
  EXPECT_EQ(values_of(moved.said, Quantity::accepted_at), (std::vector<double>{18, 12}));
  EXPECT_EQ(said_of(moved.said, Quantity::offered)->endpoint, "/prometheus/metrics");
}

TEST(TensorrtLlm, counters_that_moved_too_far_are_not_of_one_request) {
  const auto* dialect = find("tensorrt_llm");
  const Moved moved = dialect->moved(counters_of("tensorrt_llm", reading(10, 5, "")),
                                     counters_of("tensorrt_llm", reading(5000, 3000, "")), 50);
  EXPECT_TRUE(moved.said.empty());
  EXPECT_FALSE(moved.oddities.empty());
  const Moved reset = dialect->moved(counters_of("tensorrt_llm", reading(10, 5, "")),
                                     counters_of("tensorrt_llm", reading(4, 2, "")), 50);
  EXPECT_TRUE(reset.said.empty());
  EXPECT_TRUE(holds(joined(reset.oddities), "restarted or reset"));
}

TEST(TensorrtLlm, facts_are_version_and_model) {
  trace::EngineFacts facts;
  find("tensorrt_llm")
      ->read_facts(
          answers_of({{"/v1/models", R"({"data":[{"id":"llama","owned_by":"tensorrt_llm"}]})"},
                      {"/version", R"({"version":"1.2.0rc3"})"}}),
          facts);
  EXPECT_EQ(facts.version, "1.2.0rc3");
  EXPECT_EQ(facts.server->model, "llama");
}

}  // namespace
}  // namespace paceline::dialect
