#include <gtest/gtest.h>

#include "dialect/sampling.hpp"
#include "reading.hpp"
#include "trace/sampling.hpp"

namespace paceline::dialect {
namespace {

using trace::Quantity;
using trace::StopReason;

Message read(std::string_view text) { return read_message("llama-server", text); }

protocol::Generate job_of(const char* prompt) {
  protocol::Generate job;
  job.prompt = prompt;
  job.n_predict = 64;
  job.seed = 7;
  return job;
}

const std::string last_of_v050 = R"({"index":0,"content":"","tokens":[],"id_slot":0,"stop":true,
 "model":"m","tokens_predicted":32,"tokens_evaluated":50,"generation_settings":{"seed":4294967295,
 "temperature":0.800000011920929,"dynatemp_range":0.0,"top_k":40,"top_p":0.949999988079071,
 "min_p":0.05000000074505806,"top_n_sigma":-1.0,"xtc_probability":0.0,"xtc_threshold":0.1,
 "typical_p":1.0,"repeat_last_n":64,"repeat_penalty":1.0,"presence_penalty":0.0,
 "frequency_penalty":0.0,"dry_multiplier":0.0,"n_predict":32,
 "samplers":["penalties","dry","top_n_sigma","top_k","typ_p","top_p","min_p","xtc","temperature"],
 "speculative.types":"none,draft-dspark"},"prompt":"p","truncated":false,"stop_type":"limit",
 "stopping_word":"","timings":{"cache_n":5,"prompt_n":45,"prompt_ms":20.5,
 "predicted_n":32,"predicted_ms":310.0,"predicted_per_second":100.0,"draft_n":40,
 "draft_n_accepted":17}})";

TEST(LlamaServer, C101_counts_of_a_whole_answer_are_said_with_their_fields) {
  const Message message = read(R"({"content":"x","stop":true,"stop_type":"limit",
    "timings":{"prompt_n":1,"prompt_ms":228.522,"prompt_per_token_ms":228.522,
    "prompt_per_second":4.3759,"predicted_n":200,"predicted_ms":11082.606,
    "predicted_per_token_ms":55.413,"predicted_per_second":18.0463,"draft_n":347,
    "draft_n_accepted":65}})");
  EXPECT_EQ(message.chunk.output_tokens, 200);
  EXPECT_EQ(message.chunk.offered, 347);
  EXPECT_EQ(message.chunk.accepted, 65);
  EXPECT_EQ(value_of(message.said, Quantity::prompt_processed), 1);
  EXPECT_FALSE(value_of(message.said, Quantity::prompt_cached)) << "an older build: no cache_n";
  EXPECT_NEAR(*value_of(message.said, Quantity::decode_s), 11.082606, 1e-9);
  EXPECT_EQ(said_of(message.said, Quantity::offered)->field, "timings.draft_n");
  EXPECT_EQ(said_of(message.said, Quantity::offered)->endpoint, "/completion");
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "n/t: the first token counts"));
}

TEST(LlamaServer, C101_draft_counts_that_are_absent_are_not_zero) {
  const Message message = read(R"({"content":"a","tokens":[5],"stop":false,"tokens_predicted":1,
        "timings":{"predicted_n":1,"predicted_ms":0.001}})");
  EXPECT_FALSE(message.chunk.offered);
  EXPECT_FALSE(message.chunk.accepted);
}

TEST(LlamaServer, C102_the_last_stream_message_has_no_choice_and_all_the_numbers) {
  const Message message = read(R"({"choices":[],"created":1,"id":"c","object":
    "chat.completion.chunk","usage":{"completion_tokens":35,"prompt_tokens":237,"total_tokens":272,
    "prompt_tokens_details":{"cached_tokens":236}},"timings":{"cache_n":236,"prompt_n":1,
    "prompt_ms":30.958,"prompt_per_second":32.30,"predicted_n":35,"predicted_ms":661.064,
    "predicted_per_second":52.94}})");
  EXPECT_FALSE(message.has_tokens);
  EXPECT_EQ(message.chunk.output_tokens, 35);
  EXPECT_EQ(value_of(message.said, Quantity::prompt_cached), 236);
  EXPECT_EQ(value_of(message.said, Quantity::prompt_tokens), 237);
  EXPECT_EQ(value_of(message.said, Quantity::prompt_processed), 1);
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "n/t"))
      << "35 / 0.661064 = 52.945, and 34 / 0.661064 = 51.43";
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(LlamaServer, C104_totals_run_and_reasoning_is_output) {
  const Message message = read(R"({"choices":[{"finish_reason":null,"index":0,"delta":
    {"reasoning_content":" the"}}],"system_fingerprint":"b9554-d403f00ec","object":
    "chat.completion.chunk","timings":{"cache_n":7,"prompt_n":10,"prompt_ms":251.51,
    "predicted_n":38,"predicted_ms":626.017,"predicted_per_second":60.70,"draft_n":46,
    "draft_n_accepted":14}})");
  EXPECT_EQ(message.reasoning, " the");
  EXPECT_EQ(message.chunk.reasoning_bytes, 4);
  EXPECT_EQ(message.chunk.content_bytes, 0);
  EXPECT_TRUE(message.has_tokens);
  EXPECT_EQ(message.chunk.output_tokens, 38);
  EXPECT_EQ(message.chunk.decode_ms, 626.017);
  EXPECT_EQ(message.chunk.offered, 46);
  EXPECT_EQ(message.chunk.accepted, 14);
  EXPECT_TRUE(message.said.empty()) << "only the last message speaks of the whole request";
}

TEST(LlamaServer, a_native_message_has_ids_and_the_running_total) {
  const Message message = read(
      R"({"index":0,"content":" ab","tokens":[17,4],"stop":false,"id_slot":-1,
      "tokens_predicted":9,"tokens_evaluated":3,"timings":{"predicted_n":9,"predicted_ms":80.5}})");
  EXPECT_EQ(message.content, " ab");
  EXPECT_EQ(message.chunk.tokens, (std::vector<std::int32_t>{17, 4}));
  EXPECT_EQ(message.chunk.output_tokens, 9);
  EXPECT_EQ(message.chunk.decode_ms, 80.5);
  EXPECT_FALSE(message.stop);
}

TEST(LlamaServer, progress_of_the_prompt_is_no_output_though_it_holds_a_token_id) {
  const Message first = read(R"({"index":0,"content":"","tokens":[0],"stop":false,
    "tokens_predicted":0,"prompt_progress":{"total":22,"cache":4,"processed":4,"time_ms":0}})");
  EXPECT_FALSE(first.has_tokens);
  EXPECT_FALSE(first.prompt_batch) << "it comes before any batch";
  const Message second = read(R"({"index":0,"content":"","tokens":[0],"stop":false,
    "tokens_predicted":0,"prompt_progress":{"total":22,"cache":4,"processed":13,"time_ms":9}})");
  EXPECT_TRUE(second.prompt_batch);
  EXPECT_TRUE(second.chunk.tokens.empty());
  EXPECT_FALSE(second.chunk.output_tokens);
  EXPECT_FALSE(second.has_tokens);
}

TEST(LlamaServer, the_last_message_repeats_totals_and_says_what_was_in_force) {
  const Message message = read(last_of_v050);
  EXPECT_EQ(message.stop, StopReason::limit);
  EXPECT_EQ(message.chunk.output_tokens, 32);
  EXPECT_EQ(message.chunk.accepted, 17);
  EXPECT_EQ(value_of(message.said, Quantity::prompt_tokens), 50);
  EXPECT_EQ(value_of(message.said, Quantity::prompt_cached), 5);
  EXPECT_NEAR(*value_of(message.said, Quantity::prefill_s), 0.0205, 1e-12);
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "(n-1)/t"))
      << "31 / 0.310 s = 100; 32 / 0.310 s = 103.2";
  EXPECT_EQ(message.speculates, true);
  EXPECT_EQ(message.spec_types, (std::vector<std::string>{"draft-dspark"}));
  ASSERT_TRUE(message.sampling);
  EXPECT_NEAR(*trace::in_force(*message.sampling, "temp"), 0.8, 1e-6);
  EXPECT_EQ(trace::in_force(*message.sampling, "penalty_last_n"), 64);
  EXPECT_EQ(message.sampling->settings[0].origin, trace::Origin::server);
  EXPECT_EQ(message.sampling->chain, (std::vector<std::string>{"top-k", "top-p", "min-p", "temp"}))
      << "what idles at these settings is not in the chain";
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(LlamaServer, a_rate_that_fits_no_rule_is_an_oddity_and_said_as_it_is) {
  const Message message = read(R"({"content":"","stop":true,"stop_type":"eos","timings":
    {"predicted_n":100,"predicted_ms":1000.0,"predicted_per_second":690000000.0}})");
  EXPECT_EQ(value_of(message.said, Quantity::tokens_per_s), 690000000.0);
  EXPECT_TRUE(holds(rule_of(message.said, Quantity::tokens_per_s), "neither"));
  EXPECT_TRUE(holds(joined(message.oddities), "predicted_per_second is neither"));
}

TEST(LlamaServer, C232_one_token_has_no_rate) {
  const Message message = read(R"({"content":"","stop":true,"stop_type":"limit","timings":
    {"predicted_n":1,"predicted_ms":0.001,"predicted_per_second":0.0}})");
  EXPECT_FALSE(value_of(message.said, Quantity::tokens_per_s));
  EXPECT_TRUE(message.oddities.empty()) << joined(message.oddities);
}

TEST(LlamaServer, stop_types_are_read_in_both_generations) {
  const std::pair<const char*, StopReason> cases[] = {
      {R"({"stop":true,"stop_type":"eos"})", StopReason::eos},
      {R"({"stop":true,"stop_type":"word","stopping_word":"x"})", StopReason::eos},
      {R"({"stop":true,"stop_type":"limit"})", StopReason::limit},
      {R"({"stop":true,"stop_type":"none"})", StopReason::none},
      {R"({"stop":true,"stopped_eos":true,"stopped_limit":false})", StopReason::eos},
      {R"({"stop":true,"stopped_eos":false,"stopped_limit":true})", StopReason::limit},
  };
  for (const auto& [text, stop] : cases) EXPECT_EQ(read(text).stop, stop) << text;
}

TEST(LlamaServer, C253_a_truncated_run_is_an_oddity_and_ended_by_the_context) {
  const Message message = read(R"({"content":"","stop":true,"stop_type":"limit","truncated":true,
    "tokens_predicted":100,"tokens_evaluated":325,"generation_settings":{"n_predict":512}})");
  EXPECT_EQ(message.stop, StopReason::context);
  EXPECT_TRUE(holds(joined(message.oddities), "truncated"));
  EXPECT_EQ(value_of(message.said, Quantity::prompt_tokens), 325)
      << "837 were sent: whoever counted them can compare";
}

TEST(LlamaServer, C229_numbers_out_of_range_are_oddities_and_dropped) {
  const Message message = read(R"({"content":"x","stop":false,"tokens_predicted":-275253488,
    "tokens":[3000000000,-5,"7"],"timings":{"predicted_n":1.5,"predicted_ms":-1,
    "draft_n":1e300,"draft_n_accepted":true}})");
  EXPECT_FALSE(message.chunk.output_tokens);
  EXPECT_FALSE(message.chunk.decode_ms);
  EXPECT_FALSE(message.chunk.offered);
  EXPECT_FALSE(message.chunk.accepted);
  EXPECT_EQ(message.chunk.tokens, (std::vector<std::int32_t>(3, trace::unknown_token)));
  EXPECT_EQ(message.oddities.size(), 8u) << joined(message.oddities);
  EXPECT_TRUE(holds(joined(message.oddities), "tokens_predicted is not a whole number from 0 on"));
}

TEST(LlamaServer, C258_a_negative_duration_is_dropped_and_reported) {
  const Message message = read(R"({"content":"","stop":true,"timings":{"predicted_n":5,
    "predicted_ms":-0.711598,"prompt_ms":-3}})");
  EXPECT_FALSE(value_of(message.said, Quantity::decode_s));
  EXPECT_FALSE(value_of(message.said, Quantity::prefill_s));
  EXPECT_EQ(message.oddities.size(), 2u) << joined(message.oddities);
}

TEST(LlamaServer, C210_an_error_in_the_stream_is_an_error_with_the_servers_words) {
  const Message message = read(
      R"({"error":{"code":500,"message":"Invalid diff: \u001b[31mnow","type":"server_error"}})");
  ASSERT_TRUE(message.error);
  EXPECT_TRUE(holds(*message.error, "Invalid diff: \\x1b[31mnow")) << *message.error;
  EXPECT_FALSE(message.has_tokens);
}

TEST(LlamaServer, C208_no_draft_in_a_whole_request_leaves_acceptance_unsaid) {
  const Message message = read(R"({"content":"","stop":true,"stop_type":"eos","timings":
    {"predicted_n":5,"predicted_ms":50}})");
  for (const Quantity quantity : {Quantity::offered, Quantity::accepted, Quantity::acceptance_rate,
                                  Quantity::acceptance_length})
    EXPECT_FALSE(value_of(message.said, quantity));
}

TEST(LlamaServer, C246_all_that_was_asked_of_the_sampler_is_sent_and_nothing_else) {
  protocol::Generate job = job_of("hello");
  job.sampling.tool_temp = 0.0;
  job.sampling.top_k = 20;
  job.sampling.penalty_last_n = 32;
  job.sampling.samplers = "top_k;;temperature";
  job.ignore_eos = true;
  const auto request = find("llama-server")->generate({job, "m"});
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/completion");
  EXPECT_EQ(body_of(request), util::Json::parse(R"({"prompt":"hello","stream":true,"n_predict":64,
    "cache_prompt":false,"top_k":20,"repeat_last_n":32,"temperature":0.0,
    "samplers":["top_k","temperature"],"ignore_eos":true,"seed":7,"timings_per_token":true,
    "return_progress":true,"return_tokens":true})"))
      << request.body;
  EXPECT_TRUE(find("llama-server")->cannot_ask({job, "m"}).empty());
}

TEST(LlamaServer, every_parameter_that_can_be_asked_for_has_a_field) {
  protocol::Generate job = job_of("x");
  trace::Sampling& asked = job.sampling;
  asked.temp = asked.top_p = asked.min_p = asked.typical_p = asked.top_n_sigma = 0.25;
  asked.xtc_probability = asked.xtc_threshold = 0.25;
  asked.penalty_repeat = asked.penalty_freq = asked.penalty_present = 0.25;
  asked.top_k = asked.penalty_last_n = 3;
  const auto body = body_of(find("llama-server")->generate({job, "m"}));
  EXPECT_EQ(body.size(), trace::asked_parameters.size() + 8)
      << "with prompt, stream, n_predict, cache_prompt, seed, timings_per_token, return_progress "
         "and return_tokens; "
      << body.dump();
}

TEST(LlamaServer, token_ids_are_sent_as_they_are) {
  protocol::Generate job = job_of("ignored");
  job.prompt_tokens = {1, 2, 3};
  const auto body = body_of(find("llama-server")->generate({job, "m"}));
  EXPECT_EQ(body["prompt"], util::Json::parse("[1,2,3]"));
}

TEST(LlamaServer, messages_become_text_by_the_servers_own_template) {
  const auto* dialect = find("llama-server");
  const auto request = dialect->apply_template({{"user", "hi"}});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, "/apply-template");
  EXPECT_EQ(body_of(*request),
            util::Json::parse(R"({"messages":[{"role":"user","content":"hi"}]})"));
  EXPECT_EQ(dialect->read_template({200, {}, R"({"prompt":"<u>hi"})"}).value_or("none"), "<u>hi");
  const auto refused = dialect->read_template({500, {}, R"({"error":{"message":"no such role"}})"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(holds(refused.error().message, "no such role")) << refused.error().message;
  EXPECT_FALSE(dialect->read_template({200, {}, "<html>"}));
}

TEST(LlamaServer, images_go_through_the_chat_route) {
  const auto* dialect = find("llama-server");
  protocol::Generate job = job_of("");
  job.messages = {{"user", "what?", {"data:image/png;base64,AA=="}}};
  EXPECT_FALSE(dialect->apply_template(job.messages));
  const auto request = dialect->generate({job, "m"});
  EXPECT_EQ(request.target, "/v1/chat/completions");
  const auto body = body_of(request);
  EXPECT_EQ(body["messages"][0]["content"][1]["image_url"]["url"], "data:image/png;base64,AA==");
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["timings_per_token"], true);
}

const char* const props_of_v050 = R"({"default_generation_settings":{"params":{"seed":4294967295,
  "temperature":0.8,"top_k":40,"top_p":0.95,"min_p":0.05,"repeat_last_n":64,"repeat_penalty":1.0,
  "presence_penalty":0.0,"frequency_penalty":0.0,"samplers":["penalties","top_k","min_p",
  "temperature"],"speculative.types":"none"},"n_ctx":512},"total_slots":8,"model_alias":"qwen",
  "model_ftype":"Q4_K - Medium","model_path":"/models/q.gguf","modalities":{"vision":true,
  "audio":false},"chat_template":"{{x}}","build_info":"b1-de3ff81","is_sleeping":false})";

TEST(LlamaServer, C245_facts_come_from_props_and_speculation_does_not) {
  trace::EngineFacts facts;
  find("llama-server")
      ->read_facts(
          answers_of({{"/props", props_of_v050},
                      {"/v1/models", R"({"object":"list","data":[{"id":"qwen","owned_by":"llamacpp",
                    "meta":{"n_vocab":151936,"n_ctx_train":32768,"n_embd":896,
                    "n_params":494032768,"size":1,"ftype":"Q4_K - Medium"}}]})"}}),
          facts);
  EXPECT_EQ(facts.engine, "llama-server");
  EXPECT_EQ(facts.build, "b1-de3ff81");
  EXPECT_EQ(facts.target.name, "qwen");
  EXPECT_EQ(facts.target.parameters, 494032768u);
  ASSERT_TRUE(facts.server);
  EXPECT_EQ(facts.server->n_ctx_slot, 512) << "of a slot, not of the server (C253)";
  EXPECT_EQ(facts.server->slots, 8);
  EXPECT_EQ(facts.n_ctx, 4096);
  EXPECT_EQ(facts.server->quant, "Q4_K - Medium");
  EXPECT_EQ(facts.server->takes_images, true);
  EXPECT_EQ(facts.target.has_chat_template, true);
  EXPECT_FALSE(facts.server->speculates) << "speculative.types of /props is always none";
  EXPECT_TRUE(facts.server->spec_types.empty());
  EXPECT_EQ(trace::in_force(facts.sampling, "min_p"), 0.05) << "nobody asked for it";
  EXPECT_EQ(facts.server->dialect, "llama-server");
}

TEST(LlamaServer, hostile_facts_are_oddities) {
  trace::EngineFacts facts;
  find("llama-server")
      ->read_facts(answers_of({{"/props", R"({"default_generation_settings":{"n_ctx":2000000000},
        "total_slots":2000000000,"model_path":"\u001b]0;x","build_info":7})"},
                               {"/v1/models", "[]"}}),
                   facts);
  EXPECT_EQ(facts.n_ctx, 0) << "the product is no int";
  EXPECT_EQ(facts.target.path, "\\x1b]0;x");
  EXPECT_TRUE(holds(joined(facts.target.oddities), "/props.build_info is not a text"));
}

TEST(LlamaServer, origins_are_told_by_the_job_and_disobedience_is_noted) {
  trace::EffectiveSampling in_force;
  in_force.settings = {{"temp", 0.699999988, trace::Origin::server},
                       {"top_k", 40, trace::Origin::server},
                       {"min_p", 0.05, trace::Origin::server}};
  trace::Sampling asked;
  asked.tool_temp = 0.7;
  asked.top_k = 20;
  std::vector<std::string> oddities;
  name_origins(asked, in_force, oddities);
  EXPECT_EQ(in_force.settings[0].origin, trace::Origin::tool);
  EXPECT_EQ(in_force.settings[1].origin, trace::Origin::server);
  EXPECT_EQ(in_force.settings[2].origin, trace::Origin::server);
  EXPECT_EQ(joined(oddities), "top_k is 40.0 on the server, asked for was 20.0\n");
  asked.top_k = 40;
  oddities.clear();
  name_origins(asked, in_force, oddities);
  EXPECT_EQ(in_force.settings[1].origin, trace::Origin::user);
  EXPECT_TRUE(oddities.empty());
}

std::string metrics(int decodes, int tokens, int drafts, int offered, int accepted,
                    const std::string& rest = "") {
  const auto line = [](const char* name, int value) {
    return "llamacpp:" + std::string(name) + " " + std::to_string(value) + "\n";
  };
  return "# TYPE llamacpp:n_decode_total counter\n" + line("n_decode_total", decodes) +
         line("tokens_predicted_total", tokens) + line("spec_decode_num_drafts_total", drafts) +
         line("spec_decode_num_draft_tokens_total", offered) +
         line("spec_decode_num_accepted_tokens_total", accepted) + line("requests_deferred", 0) +
         (holds(rest, "requests_processing") ? "" : line("requests_processing", 0)) + rest;
}

Moved moved(const std::string& before, const std::string& after, std::optional<long> tokens) {
  return find("llama-server")
      ->moved(counters_of("llama-server", before), counters_of("llama-server", after), tokens);
}

TEST(LlamaServer, C117_counters_are_deltas_of_one_pair) {
  const std::string at = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"";
  const Moved by = moved(metrics(100, 500, 10, 30, 0),
                         metrics(129, 564, 35, 105, 37, at + "0\"} 22\n" + at + "1\"} 15\n"), 64);
  EXPECT_TRUE(by.oddities.empty()) << joined(by.oddities);
  EXPECT_EQ(value_of(by.said, Quantity::decodes), 29);
  EXPECT_EQ(value_of(by.said, Quantity::passes_speculative), 25);
  EXPECT_EQ(value_of(by.said, Quantity::offered), 75);
  EXPECT_EQ(value_of(by.said, Quantity::accepted), 37);
  EXPECT_EQ(values_of(by.said, Quantity::accepted_at), (std::vector<double>{22, 15}))
      << "none was accepted before: the series came up with the first one";
  EXPECT_EQ(said_of(by.said, Quantity::decodes)->field, "llamacpp:n_decode_total");
  EXPECT_EQ(said_of(by.said, Quantity::decodes)->endpoint, "/metrics");
}

TEST(LlamaServer, C117_slot_labels_of_some_builds_are_summed) {
  const Counters counters = counters_of("llama-server",
                                        "llamacpp:n_decode_total{slot=\"0\"} 3\n"
                                        "llamacpp:n_decode_total{slot=\"1\"} 4.0e0\n");
  EXPECT_EQ(counters.values.at("llamacpp:n_decode_total"), 7);
}

TEST(LlamaServer, C117_counters_of_other_builds_are_absent_and_not_zero) {
  const std::string before = "llamacpp:tokens_predicted_total 5\n";
  const std::string after = "llamacpp:tokens_predicted_total 9\n";
  const Moved by = moved(before, after, 4);
  EXPECT_FALSE(value_of(by.said, Quantity::accepted));
  EXPECT_FALSE(value_of(by.said, Quantity::passes_speculative));
  const Moved fork = moved(before + "llamacpp:spec_tokens_accepted_total 1\n",
                           after + "llamacpp:spec_tokens_accepted_total 3\n", 4);
  EXPECT_EQ(value_of(fork.said, Quantity::accepted), 2);
}

TEST(LlamaServer, a_list_by_position_that_cannot_be_told_from_earlier_requests_is_not_said) {
  const std::string at = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} ";
  const Moved by = moved(metrics(1, 5, 1, 3, 2), metrics(3, 9, 2, 6, 4, at + "4\n"), 4);
  EXPECT_TRUE(values_of(by.said, Quantity::accepted_at).empty());
}

TEST(LlamaServer, counters_that_fell_say_that_the_server_was_reset) {
  const Moved by = moved(metrics(100, 500, 10, 30, 9), metrics(12, 64, 3, 9, 2), 64);
  EXPECT_TRUE(by.said.empty());
  EXPECT_TRUE(holds(joined(by.oddities), "fell from 100 to 12")) << joined(by.oddities);
}

TEST(LlamaServer, counters_of_a_server_that_others_use_are_not_ours) {
  const Moved busy = moved(metrics(1, 5, 1, 3, 1),
                           metrics(9, 69, 3, 9, 3, "llamacpp:requests_processing 2\n"), 64);
  EXPECT_TRUE(busy.said.empty());
  EXPECT_TRUE(holds(joined(busy.oddities), "requests_processing was 2")) << joined(busy.oddities);
  const Moved more = moved(metrics(1, 5, 1, 3, 1), metrics(9, 105, 3, 9, 3), 64);
  EXPECT_TRUE(more.said.empty());
  EXPECT_TRUE(holds(joined(more.oddities), "moved by 100 during a request of 64 tokens"));
}

TEST(LlamaServer, counters_that_did_not_move_say_nothing) {
  const Moved by = moved(metrics(1, 5, 1, 3, 1), metrics(1, 5, 1, 3, 1), 64);
  EXPECT_TRUE(by.said.empty());
  EXPECT_TRUE(holds(joined(by.oddities), "did not move"));
}

TEST(LlamaServer, C202_more_accepted_than_offered_is_said_as_it_is) {
  const Moved by = moved(metrics(1, 5, 0, 0, 0), metrics(9, 69, 3, 9, 12), 64);
  EXPECT_EQ(value_of(by.said, Quantity::offered), 9);
  EXPECT_EQ(value_of(by.said, Quantity::accepted), 12) << "never clamped";
}

TEST(LlamaServer, C213_a_server_that_drafts_nothing_says_zero_drafts) {
  const Moved by = moved(metrics(1, 5, 0, 0, 0), metrics(65, 69, 0, 0, 0), 64);
  EXPECT_EQ(value_of(by.said, Quantity::passes_speculative), 0) << "counted, and none: known";
}

TEST(LlamaServer, what_is_no_json_object_is_an_error_of_one_message) {
  for (const char* text : {"", "{", "[1]", "7", "null", "\"x\"", "{\"a\":1}x"})
    EXPECT_FALSE(find("llama-server")->read(text)) << text;
  EXPECT_TRUE(find("llama-server")->read("[DONE]"));
}

TEST(LlamaServer, an_object_of_endless_keys_is_refused_in_time) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) text += "\"" + std::to_string(i) + "\":0,";
  const auto message = find("llama-server")->read(text + "\"z\":0}");
  ASSERT_FALSE(message);
  EXPECT_TRUE(holds(message.error().message, "more than 2000 keys")) << message.error().message;
}

}  // namespace
}  // namespace paceline::dialect
