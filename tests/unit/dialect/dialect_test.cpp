#include "dialect/dialect.hpp"

#include <gtest/gtest.h>

#include <set>

#include "reading.hpp"

namespace paceline::dialect {
namespace {

// What each kind of server answers to the probes, shortened.
const std::vector<std::pair<const char*, Answers>>& recorded() {
  static const std::vector<std::pair<const char*, Answers>> answers = {
      {"llama-server",
       answers_of({{"/props", R"({"default_generation_settings":{"params":{},"n_ctx":4096},
                     "total_slots":1,"model_path":"/m.gguf","build_info":"b1-de3ff81"})"},
                   {"/v1/models", R"({"models":[{"name":"m"}],"object":"list","data":[{"id":"m",
                     "owned_by":"llamacpp","meta":{"n_vocab":5}}]})"},
                   {"/health", R"({"status":"ok"})"}})},
      {"ik_llama",
       answers_of({{"/props", R"({"system_prompt":"","default_generation_settings":{"n_ctx":4096},
                     "total_slots":1,"model_path":"/m.gguf","n_ctx":4096})"},
                   {"/v1/models", R"({"object":"list","data":[{"id":"m","owned_by":"llamacpp"}]})"},
                   {"/health", R"({"status":"ok"})"}})},
      {"vllm", answers_of({{"/v1/models", R"({"object":"list","data":[{"id":"m","object":"model",
                             "owned_by":"vllm","root":"m","max_model_len":2048}]})"},
                           {"/version", R"({"version":"0.29.0"})"},
                           {"/health", ""}})},
      {"sglang", answers_of({{"/v1/models", R"({"object":"list","data":[{"id":"m",
                               "owned_by":"sglang","max_model_len":2048}]})"},
                             {"/health", ""}})},
      {"tensorrt_llm", answers_of({{"/v1/models", R"({"object":"list","data":[{"id":"m",
                                     "owned_by":"tensorrt_llm"}]})"},
                                   {"/version", R"({"version":"1.2.0"})"},
                                   {"/health", ""}})},
      {"lm_studio",
       answers_of({{"/api/v0/models", R"({"object":"list","data":[{"id":"m","object":"model",
                     "type":"llm","publisher":"p","compatibility_type":"gguf","state":"loaded"}]})"},
                   {"/api/v1/models", R"({"models":[{"key":"m","loaded_instances":[]}]})"},
                   {"/v1/models", R"({"object":"list","data":[{"id":"m",
                     "owned_by":"organization_owner"}]})"},
                   {"/props", R"({"error":"Unexpected endpoint or method."})"},
                   {"/health", R"({"error":"Unexpected endpoint or method."})"},
                   {"/version", R"({"error":"Unexpected endpoint or method."})"},
                   {"/api/version", R"({"error":"Unexpected endpoint or method."})"}})},
      {"ollama", answers_of({{"/api/version", R"({"version":"0.14.2"})"},
                             {"/v1/models", R"({"object":"list","data":[{"id":"m",
                               "owned_by":"library"}]})"}})},
      {"mlx_vlm", answers_of({{"/health", R"({"status":"healthy","loaded_model":"m",
                                "loaded_adapter":null,"continuous_batching_enabled":true})"},
                              {"/v1/models", R"({"object":"list","data":[{"id":"m",
                                "object":"model","created":1}]})"}})},
      {"openai", answers_of({{"/v1/models", R"({"object":"list","data":[{"id":"gpt",
                               "owned_by":"system"}]})"}})},
  };
  return answers;
}

TEST(Dialects, each_recognises_itself_only) {
  for (const auto& [server, answers] : recorded()) {
    for (const auto& dialect : all()) {
      if (dialect->name() == "openai") continue;  // it takes whatever has a /v1/models
      EXPECT_EQ(dialect->recognises(answers).has_value(), dialect->name() == server)
          << dialect->name() << " looks at " << server;
    }
    const auto choice = choose(answers);
    ASSERT_TRUE(choice) << server;
    EXPECT_EQ(choice->dialect->name(), server);
    EXPECT_FALSE(choice->why.empty());
  }
  EXPECT_EQ(recorded().size(), all().size()) << "every dialect has a recorded server";
}

TEST(Dialects, a_server_of_no_known_kind_is_none) {
  EXPECT_FALSE(choose({}));
  EXPECT_FALSE(choose(answers_of({{"/v1/models", "<html>"}, {"/props", "[]"}})));
  Answers failed = recorded().front().second;
  for (auto& [target, answer] : failed) answer.status = 503;
  EXPECT_FALSE(choose(failed)) << "an answer that failed says nothing";
}

TEST(Dialects, are_found_by_name_and_the_last_one_takes_anything) {
  std::set<std::string_view> names;
  for (const auto& dialect : all()) {
    EXPECT_EQ(find(dialect->name()), dialect.get());
    names.insert(dialect->name());
  }
  EXPECT_EQ(names.size(), 9u);
  EXPECT_EQ(find("llama"), nullptr);
  EXPECT_EQ(all().back()->name(), "openai");
}

TEST(Dialects, abilities_have_every_quantity_once_with_a_source_or_a_reason) {
  for (const auto& dialect : all()) {
    const auto abilities = dialect->abilities();
    ASSERT_EQ(abilities.size(), static_cast<std::size_t>(trace::quantities)) << dialect->name();
    for (std::size_t i = 0; i < abilities.size(); ++i) {
      EXPECT_EQ(abilities[i].quantity, static_cast<trace::Quantity>(i)) << dialect->name();
      EXPECT_NE(abilities[i].source.empty(), abilities[i].reason.empty()) << dialect->name() << i;
    }
  }
}

TEST(Dialects, what_ollama_and_openai_cannot_say_of_acceptance_has_a_reason) {
  for (const char* name : {"ollama", "openai"})
    for (const auto& ability : find(name)->abilities())
      if (ability.quantity == trace::Quantity::accepted) {
        EXPECT_TRUE(ability.source.empty());
        EXPECT_GT(ability.reason.size(), 20u);
      }
}

TEST(Dialects, probing_and_facts_read_and_change_nothing) {
  for (const auto& target : probe_targets())
    for (const char* harmful : {"metrics", "generate", "load", "slots", "flush", "show"})
      EXPECT_FALSE(holds(target, harmful)) << target;
  const auto targets = probe_targets();
  EXPECT_EQ(std::set<std::string>(targets.begin(), targets.end()).size(), targets.size());
}

TEST(Dialects, bytes_that_are_not_utf8_cost_no_message) {
  // A server that cuts a character in two sends both halves in JSON that is none.
  for (const auto& dialect : all()) {
    const auto message = dialect->read(
        "{\"content\":\"a\xe2\x82\",\"message\":{\"content\":\"a\xe2\x82\"},"
        "\"choices\":[{\"delta\":{\"content\":\"a\xe2\x82\"}}]}");
    ASSERT_TRUE(message) << dialect->name();
    EXPECT_TRUE(message->has_tokens);
    EXPECT_TRUE(message->content.starts_with("a\xef\xbf\xbd")) << dialect->name();
    EXPECT_EQ(message->oddities.size(), 1u) << dialect->name() << joined(message->oddities);
  }
}

TEST(Dialects, requests_stream_and_are_valid_json_whatever_the_prompt_is) {
  protocol::Generate job;
  job.prompt = std::string("\xff\xfe\0 \"\\\n", 7);
  for (const auto& dialect : all()) {
    const auto request = dialect->generate({job, "m"});
    EXPECT_EQ(request.method, "POST") << dialect->name();
    EXPECT_EQ(body_of(request)["stream"], true) << dialect->name();
  }
}

TEST(Dialects, hostile_messages_are_errors_or_oddities_everywhere) {
  const std::string deep(5000, '[');
  for (const auto& dialect : all()) {
    for (const std::string& text :
         {std::string(), deep, "{\"choices\":" + deep, std::string("\xff\xff"),
          std::string("{\"a\":\"\xff"), std::string("nul"), std::string(1, '\0')})
      EXPECT_FALSE(dialect->read(text)) << dialect->name() << " " << text.substr(0, 20);
    EXPECT_TRUE(dialect->read("{}")) << dialect->name();
    trace::EngineFacts facts;
    Answers answers;
    for (const auto& target : dialect->fact_targets()) answers[target] = {200, {}, deep};
    dialect->read_facts(answers, facts);
    EXPECT_EQ(facts.server->dialect, dialect->name());
  }
}

}  // namespace
}  // namespace paceline::dialect
