#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/server_run.hpp"

// Every fault of the mock, met by the built program on one measured request and on all of them.

namespace paceline {
namespace {

using support::known_server;
using support::MockServer;
using support::ServerRun;
using support::workload_of;
using ::testing::HasSubstr;

// Of a server whose own clock is read: how fast it is in truth changes no figure.
constexpr double pass_s = 0.001;
constexpr const char* first_measured = "@4";  // after the try-out and two warm-ups
constexpr const char* all_measured = "@4+";

struct Loss {
  const char* fault;
  const char* kind;  ///< of the outcome
  const char* reason;
  std::vector<std::string> arguments = {};
};

class RequestLost : public ::testing::TestWithParam<Loss> {};

TEST_P(RequestLost, leaves_the_other_one_a_figure) {
  const MockServer server(
      known_server("llama-server", pass_s, {std::string(GetParam().fault) + first_measured}));
  const ServerRun run;
  const auto ended = run.on(server, GetParam().arguments);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  const auto document = run.document();
  ASSERT_EQ(document.at("outcomes").size(), 1u) << document.at("outcomes");
  const auto& outcome = document.at("outcomes").at(0);
  EXPECT_EQ(outcome.at("kind"), GetParam().kind);
  EXPECT_THAT(outcome.at("reason").get<std::string>(), HasSubstr(GetParam().reason));
  EXPECT_NE(run.warnings("failed_requests"), "");
  const auto workload = workload_of(document);
  EXPECT_EQ(workload.at("requests_failed"), 1);
  EXPECT_EQ(workload.at("output_tokens"), 16) << "half an answer is in no figure";
  EXPECT_EQ(workload.at("decode").at("tokens_per_pass").at("value"), 2.5);
}

TEST_P(RequestLost, on_every_prompt_leaves_the_arm_no_figure_and_the_reason) {
  const MockServer server(
      known_server("llama-server", pass_s, {std::string(GetParam().fault) + all_measured}));
  const ServerRun run;
  const auto ended = run.on(server, GetParam().arguments);
  EXPECT_EQ(ended.exit_code, 3) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr(GetParam().reason));
  const auto document = run.document();
  EXPECT_EQ(document.at("outcomes").size(), 2u);
  EXPECT_TRUE(workload_of(document).at("decode").at("tokens_per_s").at("value").is_null());
}

INSTANTIATE_TEST_SUITE_P(
    Every, RequestLost,
    ::testing::Values(Loss{"stall", "timed_out", "Nothing more from", {"--patience", "2"}},
                      Loss{"cut", "failed", "closed the connection inside its answer"},
                      Loss{"http-500", "failed", "the server answered 500"},
                      Loss{"error-in-stream", "failed", "the server said: the mock was told"},
                      Loss{"slow-first-byte:60", "timed_out", "No answer", {"--patience", "2"}},
                      Loss{"late-usage:60", "timed_out", "Nothing more from", {"--patience", "2"}},
                      // C253: a prompt that was cut is another prompt.
                      Loss{"truncated-prompt", "refused", "cut the prompt"}),
    [](const auto& one) {
      std::string name = one.param.fault;
      for (char& letter : name)
        if (letter == '-' || letter == ':') letter = '_';
      return name;
    });

struct Oddity {
  const char* fault;
  const char* warning;
  const char* text;
  double residual = 0;
};

class RequestOdd : public ::testing::TestWithParam<Oddity> {};

TEST_P(RequestOdd, is_measured_and_what_was_odd_is_said) {
  const MockServer server(
      known_server("llama-server", pass_s, {std::string(GetParam().fault) + all_measured}));
  const ServerRun run;
  const auto ended = run.on(server);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(run.warnings(GetParam().warning), HasSubstr(GetParam().text));
  const auto document = run.document();
  EXPECT_TRUE(document.at("outcomes").empty());
  const auto decode = workload_of(document).at("decode");
  EXPECT_EQ(decode.at("tokens_per_pass").at("value"), 2.5);
  EXPECT_EQ(decode.at("residual_passes").at("value"), GetParam().residual);
}

INSTANTIATE_TEST_SUITE_P(
    Every, RequestOdd,
    ::testing::Values(Oddity{"malformed-json", "server_oddity", "an event was no message"},
                      Oddity{"wrong-content-type", "server_oddity", "text/html"},
                      Oddity{"counter-reset", "server_oddity", "restarted or reset"},
                      Oddity{"restart", "server_oddity", "restarted or reset"},
                      // 11 offered and 12 said to be accepted, where it was 9: three passes a
                      // request have no token.
                      Oddity{"lie-accepted", "contradiction", "accepted 12 exceeds offered 11", 6},
                      Oddity{"lie-accepted-plus", "contradiction", "residual_passes is 1", 2},
                      Oddity{"lie-count", "server_oddity", "differ"},
                      Oddity{"other-client", "server_oddity", "somebody else uses the server"},
                      Oddity{"cached", "cached_prompt", "from a cache"}),
    [](const auto& one) {
      std::string name = one.param.fault;
      for (char& letter : name)
        if (letter == '-') letter = '_';
      return name;
    });

struct Harmless {
  const char* fault;
};

class RequestUnharmed : public ::testing::TestWithParam<Harmless> {};

TEST_P(RequestUnharmed, is_measured_as_if_nothing_were) {
  const MockServer server(
      known_server("llama-server", pass_s, {std::string(GetParam().fault) + all_measured}));
  const ServerRun run;
  const auto ended = run.on(server);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  const auto document = run.document();
  EXPECT_TRUE(document.at("outcomes").empty());
  EXPECT_EQ(run.warnings("server_oddity") + run.warnings("contradiction"), "");
  const auto workload = workload_of(document);
  EXPECT_EQ(workload.at("passes").at("total"), 12);
  EXPECT_EQ(workload.at("acceptance").at("accepted"), 18);
}

INSTANTIATE_TEST_SUITE_P(Every, RequestUnharmed,
                         ::testing::Values(Harmless{"late-usage:0.05"},
                                           Harmless{"slow-first-byte:0.05"}, Harmless{"stall:0.05"},
                                           Harmless{"heartbeats"},
                                           // Groups are no passes any more; the counter tells.
                                           Harmless{"burst:6"}),
                         [](const auto& one) {
                           std::string name = one.param.fault;
                           for (char& letter : name)
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
                               letter = '_';
                           return name;
                         });

TEST(ServerFaults, a_server_that_is_never_healthy_is_said_to_load) {
  const MockServer server(known_server("llama-server", pass_s, {"never-healthy"}));
  const ServerRun run;
  const auto ended = run.on(server);
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.errors, HasSubstr("is not ready"));
  EXPECT_EQ(run.document().at("outcomes").at(0).at("kind"), "refused");
}

TEST(ServerFaults, a_server_that_is_not_there_is_named) {
  std::string gone;
  {
    const MockServer server(known_server("llama-server", pass_s));
    gone = server.url();
  }
  const ServerRun run;
  const auto ended = run.with({"--url", gone});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.errors, HasSubstr("no server answers at " + gone));
}

TEST(ServerFaults, a_build_that_changes_between_launches_is_seen) {
  // The first launch has five requests: one to try it out, two to warm up and two that count.
  const MockServer server(known_server("llama-server", pass_s, {"restart@5"}));
  const ServerRun run(2);
  const auto ended = run.on(server);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_NE(run.warnings("version_mismatch"), "");
}

TEST(ServerFaults, lies_of_servers_without_a_clock_are_found_in_what_they_say_twice) {
  for (const char* dialect : {"vllm", "sglang", "tensorrt-llm"}) {
    SCOPED_TRACE(dialect);
    const MockServer server(known_server(dialect, 0.02, {"lie-accepted-plus@4+"}));
    const ServerRun run;
    const auto ended = run.on(server);
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    EXPECT_THAT(run.warnings("server_oddity"), HasSubstr("sums to"));
  }
}

TEST(ServerFaults, a_wrong_count_at_the_end_is_found_beside_the_counters) {
  // An end token may have no event of its own, so that the stream alone contradicts nothing.
  const MockServer server(known_server("vllm", 0.02, {"lie-count@4+"}));
  const ServerRun run;
  const auto ended = run.on(server);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(run.warnings("server_oddity"), HasSubstr("moved by 16 during a request of 17"));
}

}  // namespace
}  // namespace paceline
