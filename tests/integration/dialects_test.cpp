#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/server_run.hpp"

// Every dialect of the mock, measured by the built program. Expected figures are worked out by hand
// from the truth of support::known_server(); for two prompts they are doubled.

namespace paceline {
namespace {

using support::known_server;
using support::MockServer;
using support::ServerRun;
using support::workload_of;
using ::testing::HasSubstr;

// Long enough for each event to be read by itself, where the clock is ours.
constexpr double slow_pass_s = 0.02;

/// -1: the document has to say null, and why.
struct Expected {
  const char* mock;       ///< as the mock names the kind of server
  const char* dialect;    ///< as the document does
  long passes;            ///< F
  long speculative;       ///< S
  long offered;           ///< D
  long accepted;          ///< A
  long overshoot;         ///< X
  bool residual = false;  ///< passes are counted twice
};

class DialectRun : public ::testing::TestWithParam<Expected> {};

void expect_count(const util::Json& found, long expected, const char* what) {
  if (expected >= 0) {
    EXPECT_EQ(found, expected) << what;
    return;
  }
  ASSERT_TRUE(found.is_object()) << what << " is " << found;
  EXPECT_TRUE(found.at("value").is_null()) << what;
  EXPECT_NE(found.at("reason"), "") << what;
}

TEST_P(DialectRun, is_found_by_probing_and_says_what_it_can_know_and_no_more) {
  const Expected& expected = GetParam();
  const MockServer server(known_server(expected.mock, slow_pass_s));
  const ServerRun run;
  const auto ended = run.on(server);
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto document = run.document();
  EXPECT_EQ(document.at("servers").at(0).at("dialect"), expected.dialect);
  const auto workload = workload_of(document);
  const auto& acceptance = workload.at("acceptance");
  EXPECT_EQ(workload.at("output_tokens"), 32);
  expect_count(workload.at("passes").at("total"), expected.passes, "passes");
  expect_count(workload.at("passes").at("speculative"), expected.speculative, "speculative");
  expect_count(acceptance.at("offered"), expected.offered, "offered");
  expect_count(acceptance.at("accepted"), expected.accepted, "accepted");
  expect_count(acceptance.at("overshoot"), expected.overshoot, "overshoot");
  const auto& decode = workload.at("decode");
  EXPECT_TRUE(decode.at("tokens_per_s").at("value").is_number());
  if (expected.passes >= 0)
    EXPECT_EQ(decode.at("tokens_per_pass").at("value"), 2.5);  // 15 tokens in 6 passes
  else
    expect_count(decode.at("tokens_per_pass"), -1, "tokens_per_pass");
  if (expected.residual)
    EXPECT_EQ(decode.at("residual_passes").at("value"), 0);
  else
    expect_count(decode.at("residual_passes"), -1, "residual_passes");
  EXPECT_EQ(run.warnings("contradiction"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Every, DialectRun,
    ::testing::Values(Expected{"llama-server", "llama-server", 12, 8, 22, 18, 0, true},
                      Expected{"ik_llama.cpp", "ik_llama", 12, 8, 22, 18, 0, true},
                      Expected{"vllm", "vllm", 12, 8, 24, 20, 2},
                      Expected{"vllm-detailed", "vllm", 12, 8, 24, 20, 2},
                      Expected{"vllm-plain", "vllm", 12, 8, 24, 20, 2},
                      // V0 counts matches behind a mismatch as accepted.
                      Expected{"vllm-v0", "vllm", 12, -1, -1, -1, -1},
                      Expected{"sglang", "sglang", 12, 8, 24, 20, 2},
                      // Its older generations say nothing of drafts on this route.
                      Expected{"sglang-2", "sglang", 12, 8, -1, -1, -1},
                      Expected{"sglang-1", "sglang", 12, 8, -1, -1, -1},
                      Expected{"tensorrt-llm", "tensorrt_llm", 12, 8, 24, 20, 2},
                      Expected{"ollama", "ollama", -1, -1, -1, -1, -1},
                      Expected{"lm-studio", "lm_studio", -1, -1, 22, 18, -1},
                      Expected{"mlx-vlm", "mlx_vlm", -1, 8, 24, 20, -1},
                      Expected{"openai", "openai", -1, -1, -1, -1, -1}),
    [](const auto& one) {
      std::string name = one.param.mock;
      for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
      return name;
    });

TEST(ServerDialect, asked_for_by_name_is_taken_over_what_probing_finds) {
  const MockServer server(known_server("llama-server", slow_pass_s));
  const ServerRun run;
  const auto ended = run.on(server, {"--dialect", "openai"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto said = run.document().at("servers").at(0);
  EXPECT_EQ(said.at("dialect"), "openai");
  EXPECT_EQ(said.at("chosen").get<std::string>().find("asked for by name"), 0U);
  EXPECT_EQ(server.requests_to("/completion"), 0);
}

TEST(ServerDialect, of_a_plain_arm_that_speculates_is_refused) {
  const MockServer server(known_server("llama-server", 0.001));
  const ServerRun run;
  const auto ended = run.on(server, {"--url-plain", server.url()});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.errors, HasSubstr("the server of this plain arm speculates"));
}

TEST(ServerDialect, two_running_servers_are_measured_side_by_side) {
  const MockServer fast(known_server("llama-server", 0.001));
  auto options = known_server("llama-server", 0.001);
  options.truth.speculates = false;
  const MockServer plain(std::move(options));
  const ServerRun run;
  const auto ended = run.on(fast, {"--url-plain", plain.url()});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto document = run.document();
  const auto decode = [&](std::size_t arm) { return workload_of(document, arm).at("decode"); };
  EXPECT_EQ(decode(0).at("tokens_per_pass").at("value"), 1.0);
  EXPECT_EQ(decode(1).at("tokens_per_pass").at("value"), 2.5);
  // By the servers' own clocks a pass takes a millisecond on both.
  EXPECT_NEAR(decode(1).at("tokens_per_s").at("value").get<double>() /
                  decode(0).at("tokens_per_s").at("value").get<double>(),
              2.5, 0.01);
  EXPECT_THAT(decode(1).at("speedup").at("reason").get<std::string>(),
              HasSubstr("only 22 draft tokens offered"));
}

}  // namespace
}  // namespace paceline
