#include <gtest/gtest.h>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;

TEST(Sglang, statistics_of_today_are_said_with_what_they_mean) {
  const Message message = read_message("sglang", R"({"object":"chat.completion.chunk","choices":[],
    "usage":{"prompt_tokens":20,"completion_tokens":106,"prompt_tokens_details":null,
    "reasoning_tokens":0},"sglext":{"spec_tokens_details":{"spec_accept_rate":0.29302,
    "spec_accept_length":2.46512,"spec_num_correct_drafts":63,"spec_num_proposed_drafts":215,
    "spec_verify_ct":43,"spec_correct_drafts_histogram":[11,14,11,4,0,3]}}})");
  // By hand: 11+14+11+4+0+3 = 43; 14*1 + 11*2 + 4*3 + 3*5 = 63.
  EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 43);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 63);
  EXPECT_EQ(value_of(message.said, Quantity::offered), 215);
  EXPECT_EQ(value_of(message.said, Quantity::output_tokens), 106);
  EXPECT_EQ(values_of(message.said, Quantity::accepted_at), (std::vector<double>{32, 18, 7, 3, 3}));
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::acceptance_length), "over verify calls"));
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::acceptance_rate), "assumed width"));
  EXPECT_FALSE(value_of(message.said, Quantity::prompt_cached)) << "null is not 0";
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(Sglang, older_names_mean_the_same_but_offer_only_an_assumed_width) {
  for (const char* text :
       {R"({"choices":[{"index":0,"text":"","finish_reason":"stop","meta_info":{"spec_verify_ct":43,
         "spec_accept_rate":0.293,"spec_accepted_drafts":63,"spec_proposed_drafts":215,
         "spec_accept_histogram":[11,14,11,4,0,3]}}]})",
        R"({"text":"x","meta_info":{"spec_verify_ct":43,"spec_accept_rate":0.293,
         "spec_accept_token_num":63,"spec_draft_token_num":215}})"}) {
    const Message message = read_message("sglang", text);
    EXPECT_EQ(value_of(message.said, Quantity::passes_speculative), 43) << text;
    EXPECT_EQ(value_of(message.said, Quantity::accepted), 63) << text;
    EXPECT_FALSE(value_of(message.said, Quantity::offered)) << text;
    EXPECT_TRUE(holds(rule_of(message.said, Quantity::acceptance_rate), "assumed width")) << text;
  }
}

TEST(Sglang, C221_definitions_stand_beside_the_numbers) {
  const Message message = read_message("sglang", R"({"choices":[],"sglext":{"spec_tokens_details":{
    "spec_verify_ct":4,"spec_accept_rate":0.5,"spec_accept_length":2.5,
    "spec_correct_drafts_histogram":[2,0,2]}}})");
  for (const Quantity quantity : {Quantity::acceptance_length, Quantity::acceptance_rate,
                                  Quantity::accepted, Quantity::accepted_at})
    EXPECT_GT(rule_of(message.said, quantity).size(), 15u) << static_cast<int>(quantity);
}

TEST(Sglang, C202_a_rate_above_1_is_said_as_it_is) {
  const Message message = read_message("sglang", R"({"choices":[],"sglext":{"spec_tokens_details":{
    "spec_verify_ct":10,"spec_accept_rate":1.25,"spec_num_correct_drafts":50,
    "spec_num_proposed_drafts":40}}})");
  EXPECT_EQ(value_of(message.said, Quantity::acceptance_rate), 1.25);
  EXPECT_EQ(value_of(message.said, Quantity::accepted), 50);
  EXPECT_EQ(value_of(message.said, Quantity::offered), 40);
}

TEST(Sglang, meta_info_without_speculation_says_nothing_of_it) {
  const Message message = read_message(
      "sglang", R"({"choices":[{"delta":{"content":"a"},"meta_info":{"id":"x","e2e":1}}]})");
  EXPECT_FALSE(message.speculates);
  EXPECT_TRUE(message.said.empty());
}

TEST(Sglang, C124_gauges_that_keep_their_last_value_are_not_read_and_paths_in_labels_are) {
  const std::string text =
      "sglang:gen_throughput{name=\"/shared/m/Llama/\"} 39.33\n"
      "sglang:spec_accept_length 2.5\n"
      "sglang:time_to_first_token_seconds_bucket{le=\"5.0\",name=\"/shared/m/Llama/\"} 1029.0\n"
      "sglang:num_running_reqs 1\nsglang:spec_verify_calls_total{name=\"/a b/{x}\"} ";
  const Counters before = counters_of("sglang", text + "7\nsglang:generation_tokens_total 20\n");
  const Counters after = counters_of("sglang", text + "50\nsglang:generation_tokens_total 126\n");
  EXPECT_EQ(before.values.size(), 2u);
  EXPECT_TRUE(before.oddities.empty()) << joined(before.oddities);
  const Moved moved = find("sglang")->moved(before, after, 106);
  EXPECT_EQ(value_of(moved.said, Quantity::passes_speculative), 43);
  EXPECT_FALSE(value_of(moved.said, Quantity::tokens_per_s));
}

TEST(Sglang, counters_of_a_request_that_did_not_end_by_itself_do_not_move) {
  const Counters same = counters_of("sglang", "sglang:generation_tokens_total 20\n");
  const Moved moved = find("sglang")->moved(same, same, 30);
  EXPECT_TRUE(moved.said.empty());
  EXPECT_TRUE(holds(joined(moved.oddities), "did not move"));
}

TEST(Sglang, C124_facts_come_from_the_server_arguments) {
  trace::EngineFacts facts;
  find("sglang")->read_facts(
      answers_of(
          {{"/v1/models", R"({"data":[{"id":"m","owned_by":"sglang"}]})"},
           {"/get_server_info", R"({"model_path":"/m","version":"0.4.5","context_length":null,
                    "kv_cache_dtype":"auto","speculative_algorithm":"EAGLE3",
                    "speculative_num_steps":3,"speculative_num_draft_tokens":4,
                    "internal_states":[{"avg_spec_accept_length":"n/a"}]})"}}),
      facts);
  EXPECT_EQ(facts.version, "0.4.5");
  EXPECT_EQ(facts.cache_type_k, "auto");
  EXPECT_EQ(facts.server->speculates, true);
  EXPECT_EQ(facts.server->draft_n_max, 3);
  EXPECT_EQ(facts.n_ctx, 0);
  EXPECT_TRUE(facts.target.oddities.empty()) << joined(facts.target.oddities);
  trace::EngineFacts plain;
  find("sglang")->read_facts(
      answers_of({{"/server_info", R"({"server_args":{"speculative_algorithm":null,
        "context_length":4096}})"}}),
      plain);
  EXPECT_EQ(plain.server->speculates, false);
  EXPECT_EQ(plain.n_ctx, 4096);
}

TEST(Sglang, requests_ask_for_details_of_speculation) {
  protocol::Generate job;
  job.messages = {{"user", "u"}};
  const auto body = body_of(find("sglang")->generate({job, "m"}));
  EXPECT_EQ(body["return_spec_tokens_details"], true);
  EXPECT_EQ(body["stream_options"]["continuous_usage_stats"], true);
}

}  // namespace
}  // namespace paceline::dialect
