#include "document/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/assemble.hpp"
#include "metrics/normalise.hpp"
#include "metrics/summary.hpp"
#include "report/terminal.hpp"

namespace paceline::document {
namespace {

using trace::Quantity;

trace::Chunk chunk(long total, double ms, long offered, long accepted) {
  trace::Chunk event;
  event.arrived_ns = 1000 * total;
  event.content_bytes = 1;
  event.output_tokens = total;
  event.decode_ms = ms;
  event.offered = offered;
  event.accepted = accepted;
  return event;
}

/// One pass that offered 3 and accepted 2: E = 4.
trace::Request answered_request() {
  trace::Request request;
  request.prompt_id = "p";
  request.workload_class = "code";
  request.stop = trace::StopReason::limit;
  request.chunks = {chunk(1, 0.001, 0, 0), chunk(2, 10, 3, 2), chunk(3, 10, 3, 2),
                    chunk(4, 10, 3, 2)};
  request.answer.emplace();
  request.answer->endpoint = "/completion";
  request.answer->said = {
      {Quantity::output_tokens, 4, {}, "/completion", "timings.predicted_n", ""},
      {Quantity::offered, 3, {}, "/completion", "timings.draft_n", ""},
      {Quantity::accepted, 2, {}, "/completion", "timings.draft_n_accepted", ""},
      {Quantity::prompt_tokens, 10, {}, "/completion", "tokens_evaluated", ""},
      {Quantity::prompt_cached, 8, {}, "/completion", "timings.cache_n", ""},
      {Quantity::prefill_s, 0.5, {}, "/completion", "timings.prompt_ms", ""}};
  request.answer->oddities = {"an event was no message"};
  metrics::normalise(request, false);
  return request;
}

trace::Trace remote_trace() {
  trace::Trace trace;
  trace.header.tool_version = "1";
  trace.header.rounds = 1;
  trace.header.n_predict = 4;
  trace.header.residency = "declared";
  trace::Arm arm;
  arm.name = "server";
  arm.setup.url = "http://127.0.0.1:9";
  arm.setup.spec_type = trace::SpecType::undeclared;
  arm.setup.threads = 0;
  trace.header.arms = {arm};
  trace::Launch launch;
  launch.arm = "server";
  launch.facts.emplace();
  launch.facts->engine = "llama-server";
  launch.facts->build = "b9554-d403f00ec";
  launch.facts->server.emplace();
  auto& server = *launch.facts->server;
  server.dialect = "llama-server";
  server.chosen = "/props names build_info";
  server.url = "http://127.0.0.1:9";
  server.model = "some model";
  server.slots = 2;
  server.n_ctx_slot = 4096;
  server.speculates = true;
  server.spec_types = {"draft-mtp"};
  server.abilities = {{Quantity::accepted, "timings.draft_n_accepted of /completion", ""},
                      {Quantity::attempts, "", "it does not say"}};
  launch.requests = {answered_request()};
  trace.launches = {launch};
  return trace;
}

Document document_of(const trace::Trace& trace) {
  const auto mix = metrics::equal_mix(trace);
  return assemble(trace, metrics::summarise(trace, mix), mix, {});
}

std::vector<std::string> kinds_of(const Document& document) {
  std::vector<std::string> kinds;
  for (const auto& warning : document.warnings) kinds.push_back(warning.text);
  return kinds;
}

TEST(ToServers, says_where_every_number_comes_from_and_what_cannot_be_had) {
  const auto servers = to_servers(remote_trace());
  ASSERT_EQ(servers.size(), 1u);
  EXPECT_FALSE(servers[0].managed);
  EXPECT_EQ(servers[0].build.value, "b9554-d403f00ec");
  EXPECT_EQ(servers[0].abilities[1].source.reason, "it does not say");
  bool field = false;
  bool rule = false;
  for (const auto& one : servers[0].provenance) {
    field |= one.quantity == "accepted" && one.field == "timings.draft_n_accepted" &&
             one.endpoint == "/completion";
    rule |= one.quantity == "passes" && one.rule.find("groups of tokens") == 0;
  }
  EXPECT_TRUE(field);
  EXPECT_TRUE(rule);
}

TEST(ToServers, has_none_for_the_embedded_engine) {
  auto trace = remote_trace();
  trace.launches[0].facts->server.reset();
  EXPECT_TRUE(to_servers(trace).empty());
}

TEST(DocumentOfAServer, leaves_unknown_what_nobody_said) {
  const auto document = document_of(remote_trace());
  EXPECT_FALSE(document.target.value);
  EXPECT_THAT(document.target.reason, testing::HasSubstr("some model"));
  EXPECT_FALSE(document.engine.value->n_batch.value);
  EXPECT_FALSE(document.engine.value->flash_attention.value);
  EXPECT_EQ(document.launches.protocol, "server");
  const auto& workload = document.arms.at(0).workloads.at(0);
  EXPECT_EQ(workload.passes.total.value, 1);
  EXPECT_DOUBLE_EQ(*workload.decode.tokens_per_pass.value, 3);
  EXPECT_FALSE(workload.acceptance.attempts.value);
  EXPECT_EQ(workload.prefill.prefill_tokens.value, 2);
  EXPECT_DOUBLE_EQ(*workload.prefill.prefill_tokens_per_s.value, 4) << "2 tokens in 0.5 s";
  EXPECT_THAT(document.facts.known, testing::Contains("F12"));
  EXPECT_THAT(document.facts.known, testing::Not(testing::Contains("F1")));
  EXPECT_THAT(document.facts.known, testing::Not(testing::Contains("F6")))
      << "nothing is said of the sampler";
}

TEST(DocumentOfAServer, knows_of_a_running_one_only_what_its_owner_declares) {
  const auto arm = document_of(remote_trace()).arms.at(0);
  EXPECT_EQ(arm.residency, "declared");
  EXPECT_FALSE(arm.settings.threads.value);
}

/// The same with a twin that is declared plain, serving a model of that name.
trace::Trace with_twin(const std::string& model) {
  auto trace = remote_trace();
  auto arm = trace.header.arms[0];
  arm.name = "plain";
  arm.setup.spec_type = trace::SpecType::none;
  trace.header.arms.insert(trace.header.arms.begin(), arm);
  auto launch = trace.launches[0];
  launch.arm = "plain";
  launch.facts->server->model = model;
  trace.launches.push_back(launch);
  return trace;
}

TEST(DocumentOfAServer, has_no_speedup_over_a_twin_that_serves_another_model) {
  const auto speedup = [](const std::string& model) {
    return document_of(with_twin(model)).arms.at(1).workloads.at(0).decode.speedup;
  };
  EXPECT_THAT(speedup("another model").reason, testing::HasSubstr("\"another model\""));
  EXPECT_THAT(speedup("some model").reason, testing::Not(testing::HasSubstr("some model")));
}

TEST(DocumentOfAServer, leaves_superseded_passes_unknown_where_replays_are) {
  auto trace = remote_trace();
  auto& tally = *trace.launches[0].requests[0].tally;
  EXPECT_EQ(document_of(trace).arms[0].workloads[0].passes.superseded.value, 0);
  tally.passes_replay = {std::nullopt, "", "nobody says"};
  EXPECT_EQ(document_of(trace).arms[0].workloads[0].passes.superseded.reason, "nobody says");
}

TEST(DocumentOfAServer, warns_of_its_oddities_and_of_cached_prompts) {
  const auto texts = kinds_of(document_of(remote_trace()));
  EXPECT_THAT(texts, testing::Contains(testing::HasSubstr("an event was no message")));
  EXPECT_THAT(texts, testing::Contains(testing::HasSubstr("8 tokens")));
}

TEST(DocumentOfAServer, warns_of_acceptance_that_is_made_up) {
  auto trace = remote_trace();
  trace.launches[0].facts->server->forced_acceptance = true;
  EXPECT_THAT(kinds_of(document_of(trace)), testing::Contains(testing::HasSubstr("made up")));
}

TEST(DocumentOfAServer, is_told_in_the_reports_head) {
  const std::string text = report::terminal(document_of(remote_trace()), {false, 200});
  EXPECT_THAT(text, testing::HasSubstr("server: llama-server b9554-d403f00ec at "
                                       "http://127.0.0.1:9, running already"));
  EXPECT_THAT(text, testing::HasSubstr("2 slots of 4096 tokens, speculates by draft-mtp"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("threads")));
}

}  // namespace
}  // namespace paceline::document
