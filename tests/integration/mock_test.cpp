#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "net/client.hpp"
#include "net/url.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "util/child_process.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

constexpr auto patience = std::chrono::seconds(60);

/// `paceline mock` with more arguments, on a free port.
class MockProgram {
 public:
  explicit MockProgram(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {PACELINE_BINARY_DIR "/paceline", "mock", "--port", "0"});
    child_.emplace(std::move(*util::ChildProcess::start(arguments, {})));
  }

  /// Where it says it listens.
  std::string url() {
    std::string line;
    for (char letter = 0; ::read(child_->output(), &letter, 1) == 1 && letter != '\n';)
      line += letter;
    return line.substr(line.rfind(' ') + 1);
  }

  util::ChildProcess& child() { return *child_; }

 private:
  std::optional<util::ChildProcess> child_;
};

TEST(MockCommand, serves_as_llama_server_with_its_own_arguments_until_it_is_told_to_end) {
  MockProgram program({"-m", "some.gguf", "-md", "drafter.gguf", "-np", "2", "-c", "512", "-t", "1",
                       "-ngl", "99", "-ctk", "f16", "--metrics", "--spec-type", "draft-mtp",
                       "--spec-draft-n-max", "3"});
  const auto address = net::parse_url(program.url());
  ASSERT_TRUE(address);
  net::Client client{net::ClientOptions{}};
  net::Request request;
  request.target = "/props";
  const auto response = client.fetch(*address, request, patience);
  ASSERT_TRUE(response);
  const auto props = util::parse_json(response->body, "props");
  EXPECT_EQ((*props)["total_slots"], 2);
  EXPECT_EQ((*props)["model_path"], "some.gguf");
  EXPECT_EQ((*props)["default_generation_settings"]["n_ctx"], 256);

  program.child().send(SIGTERM);
  const auto status = program.child().wait(patience);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->exit_code, 0);
}

TEST(MockCommand, is_told_to_nobody_who_asks_for_help) {
  const support::TemporaryFolder home;
  for (const char* asked : {"--help", "completions", "man"}) {
    std::vector<std::string> arguments = {asked};
    if (arguments[0] == "completions") arguments.emplace_back("bash");
    const auto ended = support::run_program(home.path(), arguments);
    EXPECT_EQ(ended.exit_code, 0) << asked;
    EXPECT_THAT(ended.output, testing::Not(testing::HasSubstr("mock"))) << asked;
  }
}

TEST(MockCommand, refuses_a_fault_that_there_is_not) {
  const support::TemporaryFolder home;
  const auto ended = support::run_program(home.path(), {"mock", "--fault", "nonsense"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.errors, testing::HasSubstr("KIND[:VALUE]"));
}

}  // namespace
}  // namespace paceline
