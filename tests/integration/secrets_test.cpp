#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/server_run.hpp"
#include "util/files.hpp"

// The server's key goes to the server and nowhere else.

namespace paceline {
namespace {

using support::known_server;
using support::MockServer;
using support::ServerRun;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string key = "sk-test-SECRET";

class Secret : public ::testing::Test {
 protected:
  ~Secret() override { ::unsetenv("PACELINE_API_KEY"); }

  static void set_key(const std::string& value) { ::setenv("PACELINE_API_KEY", value.c_str(), 1); }

  static MockServer locked(const std::vector<std::string>& faults = {}) {
    auto options = known_server("llama-server", 0.001, faults);
    options.api_key = key;
    return MockServer(std::move(options));
  }

  /// Nothing printed and no file below the test's folder holds it.
  void expect_unseen(const support::Ended& ended, const std::string& secret) const {
    EXPECT_THAT(ended.output, Not(HasSubstr(secret)));
    EXPECT_THAT(ended.errors, Not(HasSubstr(secret)));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run.home())) {
      if (!entry.is_regular_file() || entry.path().filename() == "key") continue;
      EXPECT_THAT(util::read_file(entry.path()).value_or(""), Not(HasSubstr(secret)))
          << entry.path();
    }
  }

  ServerRun run;
};

TEST_F(Secret, from_the_environment_opens_the_server_and_is_nowhere_else) {
  const MockServer server = locked();
  set_key(key);
  const auto ended = run.on(server);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(run.trace_text(), HasSubstr("llama-server")) << "there is something to look through";
  expect_unseen(ended, key);
}

TEST_F(Secret, from_a_file_opens_the_server_and_is_nowhere_else) {
  const MockServer server = locked();
  ASSERT_TRUE(util::write_file(run.path("key"), key + "\n"));
  const auto ended = run.on(server, {"--api-key-file", run.path("key")});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  expect_unseen(ended, key);
}

TEST_F(Secret, that_is_missing_is_asked_for) {
  const MockServer server = locked();
  const auto ended = run.on(server);
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.errors, HasSubstr("wants a key"));
}

TEST_F(Secret, that_is_wrong_is_refused_without_a_word_of_it) {
  const MockServer server = locked({"echo-key"});
  set_key("sk-wrong-SECRET");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--dialect", "llama-server"}}) {
    const ServerRun fresh;
    const auto ended = fresh.on(server, more);
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_THAT(ended.errors, HasSubstr("refuses the key"));
    expect_unseen(ended, "sk-wrong-SECRET");
  }
}

TEST_F(Secret, that_a_server_repeats_in_its_error_is_taken_out) {
  const MockServer server = locked({"echo-key", "http-500@4"});
  set_key(key);
  const auto ended = run.on(server);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(run.document().at("outcomes").at(0).at("reason").get<std::string>(),
              HasSubstr("Bearer [key]"));
  expect_unseen(ended, key);
}

TEST_F(Secret, is_not_sent_over_a_connection_that_is_refused) {
  const MockServer server = locked();
  set_key(key);
  const std::string secure = "https" + server.url().substr(4);
  const auto ended = run.with({"--url", secure});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_TRUE(server.received().empty());
  expect_unseen(ended, key);
}

TEST_F(Secret, in_a_url_is_refused_before_anything_is_written) {
  for (const char* option : {"--url", "--url-plain"}) {
    const ServerRun fresh;
    std::vector<std::string> arguments = {option, "http://user:sk-test-SECRET@127.0.0.1:9"};
    if (std::string(option) == "--url-plain")
      arguments.insert(arguments.end(), {"--url", "http://127.0.0.1:9"});
    const auto ended = fresh.with(arguments);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_THAT(ended.errors, HasSubstr("user name or password"));
    EXPECT_THAT(ended.errors + ended.output, Not(HasSubstr("SECRET")));
    EXPECT_FALSE(std::filesystem::exists(fresh.path("trace.jsonl")));
  }
}

}  // namespace
}  // namespace paceline
