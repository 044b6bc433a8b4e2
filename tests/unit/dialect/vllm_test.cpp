#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;

// Sums worked out by hand: 39+1+0+3 = 43 steps; 1*1 + 3*3 = 10 accepted; 1 + 10/43 = 1.2326.
const std::string stats = R"({"mean_acceptance_length":1.2326,"draft_acceptance_rate":0.0775,
  "acceptance_histogram":[39,1,0,3],"acceptance_histogram_by_draft_length":{"3":[39,1,0,3]},
  "num_spec_steps":43,"num_accepted_draft_tokens":10,"num_draft_tokens":129,"num_spec_tokens":3})";

void expect_published_sample(const Message& message) {
  EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 43);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 10);
  EXPECT_EQ(values_of(message.said, Quantity::accepted_lengths),
            (std::vector<double>{39, 1, 0, 3}));
  EXPECT_EQ(values_of(message.said, Quantity::accepted_at), (std::vector<double>{4, 3, 3}))
      << "positions 1, 2, 3 were accepted by passes of 1 and more, 2 and more, 3";
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
  EXPECT_EQ(message.speculates, true);
}

TEST(Vllm, statistics_of_the_final_usage_message_are_said) {
  const Message message = read_message(
      "vllm", R"({"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":20,
      "completion_tokens":54},"metrics":{"time_to_first_token_ms":85.2,
      "generation_time_ms":1240.5,"queue_time_ms":12.3,"mean_itl_ms":9.1,
      "tokens_per_second":103.2,"speculative_decoding":)" +
                  stats + "}}");
  expect_published_sample(message);
  EXPECT_EQ(value_of(message.said, Quantity::offered), 129);
  EXPECT_EQ(value_of(message.said, Quantity::draft_n_max), 3);
  EXPECT_EQ(value_of(message.said, Quantity::acceptance_length), 1.2326);
  EXPECT_EQ(values_of(message.said, Quantity::offered_at), (std::vector<double>{43, 43, 43}));
  EXPECT_EQ(value_of(message.said, Quantity::tested), 50) << "39*1 + 1*2 + 3*3";
  EXPECT_NEAR(*value_of(message.said, Quantity::decode_s), 1.2405, 1e-12);
  EXPECT_NEAR(*value_of(message.said, Quantity::ttft_s), 0.0852, 1e-12);
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "includes the prompt's"));
  EXPECT_EQ(said_of(message.said, Quantity::accepted)->field,
            "metrics.speculative_decoding.num_accepted_draft_tokens");
}

TEST(Vllm, C228_a_rate_that_includes_the_prompt_says_so) {
  const Message message =
      read_message("vllm", R"({"choices":[],"usage":{"completion_tokens":128},"metrics":{
      "tokens_per_second":96.5,"generation_time_ms":1240.5}})");
  EXPECT_EQ(value_of(message.said, Quantity::tokens_per_s), 96.5);
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "includes the prompt's"));
}

TEST(Vllm, C140_C225_a_chunk_of_many_tokens_says_how_many) {
  // A parser that buffers text shows 40 tokens at once: decoding began before the first chunk.
  const Message message = read_message(
      "vllm", R"({"choices":[{"delta":{"content":"The answer is 4."},"finish_reason":null}],
      "usage":{"prompt_tokens":9,"completion_tokens":40}})");
  EXPECT_TRUE(message.has_tokens);
  EXPECT_EQ(message.chunk.output_tokens, 40);
  const Message hidden = read_message(
      "vllm", R"({"choices":[{"delta":{"content":""}}],"usage":{"completion_tokens":12}})");
  EXPECT_TRUE(hidden.has_tokens) << "its total says that 12 were made, though none is shown";
}

TEST(Vllm, an_object_histogram_in_the_choice_means_the_same) {
  expect_published_sample(
      read_message("vllm", R"({"choices":[{"index":0,"delta":{},"finish_reason":"length",
      "speculative_decoding_stats":{"acceptance_histogram":{"0":39,"1":1,"3":3}}}]})"));
}

TEST(Vllm, steps_one_by_one_make_the_histogram_and_the_widths) {
  const Message message = read_message("vllm", R"({"choices":[],"metrics":{"speculative_decoding":{
    "per_step_accepted":[0,2,1],"per_step_drafted":[3,2,1]}}})");
  EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 3);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 3);
  EXPECT_EQ(values_of(message.said, Quantity::offered_at), (std::vector<double>{3, 2, 1}));
  EXPECT_EQ(values_of(message.said, Quantity::accepted_at), (std::vector<double>{2, 1}));
  EXPECT_EQ(value_of(message.said, Quantity::tested), 4) << "1 + 2 + 1";
}

TEST(Vllm, statistics_that_disagree_with_themselves_are_oddities_and_said_as_they_are) {
  const Message message = read_message("vllm", R"({"choices":[],"metrics":{"speculative_decoding":{
    "num_spec_steps":40,"num_accepted_draft_tokens":12,"acceptance_histogram":[39,1,0,3],
    "acceptance_histogram_by_draft_length":{"1":[0,0,5]}}}})");
  EXPECT_EQ(message.oddities.size(), 3u) << joined(message.oddities);
  EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 40);
  EXPECT_FALSE(value_of(message.said, Quantity::tested));
}

TEST(Vllm, C202_a_rate_above_1_is_said_as_it_is) {
  const Message message = read_message("vllm", R"({"choices":[],"metrics":{"speculative_decoding":{
    "draft_acceptance_rate":1.37,"num_draft_tokens":10,"num_accepted_draft_tokens":14}}})");
  EXPECT_EQ(value_of(message.said, Quantity::acceptance_rate), 1.37);
  EXPECT_EQ(value_of(message.said, Quantity::offered), 10);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 14);
}

TEST(Vllm, C208_no_statistics_are_not_zero) {
  for (const char* text : {R"({"choices":[],"metrics":null})",
                           R"({"choices":[],"metrics":{"speculative_decoding":null}})"}) {
    const Message message = read_message("vllm", text);
    EXPECT_FALSE(message.speculates) << text;
    EXPECT_TRUE(message.said.empty()) << text;
  }
}

TEST(Vllm, hostile_histograms_are_oddities) {
  for (const char* histogram :
       {"{\"99999999\":1}", "{\"-1\":1}", "[-1]", "[1e300]", "7", "[[1]]", "{\"x\":1}"}) {
    const Message message =
        read_message("vllm", R"({"choices":[],"metrics":{"speculative_decoding":{
          "acceptance_histogram":)" +
                                 std::string(histogram) + "}}}");
    EXPECT_EQ(message.oddities.size(), 1u) << histogram;
    EXPECT_TRUE(message.said.empty()) << histogram;
  }
}

const char* const v1_before = R"(# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 22.0
vllm:spec_decode_num_drafts_total{engine="1",model_name="m"} 8.0
vllm:spec_decode_num_drafts_created{engine="0",model_name="m"} 1.756736798e+09
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 66.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 30.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 18.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 12.0
vllm:spec_decode_num_accepted_tokens_per_pos_created{engine="0",position="1"} 1.756736798e+09
vllm:generation_tokens_total{engine="0"} 100.0
vllm:generation_tokens_created{engine="0"} 1.756736798e+09
vllm:prompt_tokens_total{engine="0"} 40.0
vllm:num_requests_running{engine="0"} 0.0
vllm:num_requests_waiting{engine="0"} 0.0
)";
const char* const v1_after = R"(vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 42.0
vllm:spec_decode_num_drafts_total{engine="1",model_name="m"} 8.0
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 1.26e2
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 61.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 36.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 25.0
vllm:generation_tokens_total{engine="0"} 152.0
vllm:prompt_tokens_total{engine="0"} 60.0
vllm:num_requests_running{engine="0"} 0.0
vllm:num_requests_waiting{engine="0"} 0.0
)";

TEST(Vllm, C120_counters_are_summed_over_engines_and_times_of_creation_never_read) {
  const Counters before = counters_of("vllm", v1_before);
  EXPECT_EQ(before.values.at("vllm:spec_decode_num_drafts_total"), 30);
  for (const auto& [name, value] : before.values) EXPECT_LT(value, 1e6) << name;
  const Moved moved = find("vllm")->moved(before, counters_of("vllm", v1_after), 52);
  EXPECT_TRUE(moved.oddities.empty()) << joined(moved.oddities);
  EXPECT_EQ(value_of(moved.said, Quantity::passes_speculative), 20);
  EXPECT_EQ(value_of(moved.said, Quantity::offered), 60);
  EXPECT_EQ(value_of(moved.said, Quantity::accepted), 31) << "18 + 13 by position, not added again";
  EXPECT_EQ(values_of(moved.said, Quantity::accepted_at), (std::vector<double>{18, 13}));
  EXPECT_EQ(value_of(moved.said, Quantity::prompt_tokens), 20);
}

TEST(Vllm, C209_accepted_tokens_of_v0_are_not_converted) {
  const auto reading = [](int emitted, int accepted, int drafted, int tokens) {
    return counters_of(
        "vllm",
        "vllm:spec_decode_draft_acceptance_rate 0.5\nvllm:spec_decode_efficiency 0.4\n"
        "vllm:spec_decode_num_accepted_tokens_total " +
            std::to_string(accepted) + "\nvllm:spec_decode_num_draft_tokens_total " +
            std::to_string(drafted) + "\nvllm:spec_decode_num_emitted_tokens_total " +
            std::to_string(emitted) + "\nvllm:generation_tokens_total " + std::to_string(tokens) +
            "\n");
  };
  const Moved moved = find("vllm")->moved(reading(10, 8, 20, 11), reading(60, 48, 90, 62), 51);
  EXPECT_FALSE(value_of(moved.said, Quantity::accepted));
  EXPECT_FALSE(value_of(moved.said, Quantity::offered));
  EXPECT_FALSE(value_of(moved.said, Quantity::acceptance_rate));
  EXPECT_EQ(value_of(moved.said, Quantity::output_tokens), 51);
  EXPECT_TRUE(holds(joined(moved.oddities), "(40)")) << joined(moved.oddities);
  EXPECT_TRUE(holds(joined(moved.oddities), "emitted 50 tokens"));
}

TEST(Vllm, C220_forced_acceptance_is_found_in_the_configuration) {
  trace::EngineFacts facts;
  find("vllm")->read_facts(
      answers_of({{"/v1/models", R"({"data":[{"id":"m","owned_by":"vllm","root":"/m",
                    "max_model_len":8192}]})"},
                  {"/version", R"({"version":"0.29.1"})"},
                  {"/server_info", R"({"vllm_config":{"speculative_config":{"method":"eagle3",
                    "num_speculative_tokens":3,"synthetic_acceptance_length":2.5}}})"}}),
      facts);
  EXPECT_EQ(facts.version, "0.29.1");
  EXPECT_EQ(facts.n_ctx, 8192);
  EXPECT_EQ(facts.target.path, "/m");
  EXPECT_EQ(facts.server->forced_acceptance, true);
  EXPECT_EQ(facts.server->speculates, true);
  EXPECT_EQ(facts.server->spec_types, (std::vector<std::string>{"eagle3"}));
  EXPECT_EQ(facts.server->draft_n_max, 3);
}

TEST(Vllm, C220_a_setting_that_is_off_forces_nothing) {
  trace::EngineFacts facts;
  find("vllm")->read_facts(
      answers_of({{"/server_info", R"({"vllm_config":{"speculative_config":{"method":"ngram",
        "synthetic_acceptance_length":null}}})"}}),
      facts);
  EXPECT_EQ(facts.server->forced_acceptance, false);
}

TEST(Vllm, facts_that_are_not_said_stay_unknown) {
  trace::EngineFacts facts;
  find("vllm")->read_facts(answers_of({{"/v1/models", R"({"data":[{"id":"m"}]})"}}), facts);
  EXPECT_FALSE(facts.server->forced_acceptance);
  EXPECT_FALSE(facts.server->speculates);
}

TEST(Vllm, requests_ask_for_a_running_total_and_no_token_ids) {
  protocol::Generate job;
  job.prompt_tokens = {5, 6};
  job.n_predict = 9;
  job.ignore_eos = true;
  job.sampling.penalty_repeat = 1.1;
  const auto request = find("vllm")->generate({job, "m"});
  EXPECT_EQ(request.target, "/v1/completions");
  EXPECT_EQ(body_of(request), util::Json::parse(R"({"model":"m","prompt":[5,6],"stream":true,
    "max_tokens":9,"repetition_penalty":1.1,"ignore_eos":true,"seed":0,"stream_options":
    {"include_usage":true,"continuous_usage_stats":true}})"))
      << request.body;
  EXPECT_TRUE(find("vllm")->cannot_ask({job, "m"}).empty());
}

}  // namespace
}  // namespace paceline::dialect
