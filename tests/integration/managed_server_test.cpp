#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "support/server_run.hpp"
#include "util/files.hpp"

// `paceline run --server-bin` with a script around `paceline mock` in the place of llama-server.

namespace paceline {
namespace {

using support::ServerRun;
using support::workload_of;
using ::testing::HasSubstr;

class ManagedRun : public ::testing::Test {
 protected:
  /// In two launches an arm, a llama-server of six passes a request, as support::known_server() has
  /// them, and more.
  support::Ended run_with_mock(const std::string& mock_arguments,
                               std::vector<std::string> arguments) const {
    const std::string script = run.path("llama-server");
    EXPECT_TRUE(util::write_file(script, "#!/bin/sh\nexec " PACELINE_BINARY_DIR
                                         "/paceline mock --pass-ms 1 --round 3/2,-,3/3 \"$@\" " +
                                             mock_arguments + "\n"));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const std::vector<std::string> all = {
        "--server-bin", script, "-m", PACELINE_SOURCE_DIR "/models/target-mtp-f16.gguf", "-t", "1"};
    arguments.insert(arguments.begin(), all.begin(), all.end());
    return run.with(arguments);
  }

  ServerRun run{2};  ///< of two launches
};

TEST_F(ManagedRun, measures_plain_and_speculative_arms_launched_apart) {
  const auto ended = run_with_mock("", {"--spec-type", "draft-mtp"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto document = run.document();
  EXPECT_EQ(workload_of(document, 0).at("decode").at("tokens_per_pass").at("value"), 1.0);
  EXPECT_EQ(workload_of(document, 1).at("decode").at("tokens_per_pass").at("value"), 2.5);
  EXPECT_EQ(document.at("servers").at(1).at("managed"), true);
  EXPECT_THAT(document.at("servers").at(1).at("command_line").get<std::string>(),
              HasSubstr("--spec-type draft-mtp"));
}

TEST_F(ManagedRun, gives_up_a_server_that_is_silent_and_never_healthy) {
  const auto ended = run_with_mock("--fault never-healthy", {"--patience", "1"});
  EXPECT_EQ(ended.exit_code, 3) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("was not ready after"));
  EXPECT_THAT(ended.errors, HasSubstr("its /health answers 503"));
  EXPECT_EQ(run.document().at("outcomes").at(0).at("kind"), "timed_out");
}

TEST_F(ManagedRun, finds_a_restart_behind_its_back_in_the_counters) {
  const auto ended = run_with_mock("--fault restart@4", {"--no-plain", "--spec-type", "draft-mtp"});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(run.warnings("server_oddity"), HasSubstr("restarted or reset"));
}

TEST_F(ManagedRun, goes_on_with_the_next_launch_when_a_server_dies) {
  // In every launch the fifth request, the last that counts, is its death.
  const auto ended = run_with_mock("--fault crash@5", {"--no-plain", "--spec-type", "draft-mtp"});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  const auto document = run.document();
  EXPECT_EQ(document.at("launches").at("lost"), 2);
  bool killed = false;
  for (const auto& outcome : document.at("outcomes"))
    killed |= outcome.at("kind") == "crashed" && outcome.at("signal") == SIGKILL;
  EXPECT_TRUE(killed) << document.at("outcomes");
  EXPECT_NE(run.warnings("lost_launch"), "");
}

TEST_F(ManagedRun, has_no_figure_of_a_server_that_dies_before_the_first_one) {
  const auto ended = run_with_mock("--fault crash@2", {"--no-plain", "--spec-type", "draft-mtp"});
  EXPECT_EQ(ended.exit_code, 3) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("was ended by signal 9"));
  EXPECT_EQ(run.document().at("outcomes").at(0).at("kind"), "crashed");
}

TEST_F(ManagedRun, passes_a_projector_on_and_sends_pictures) {
  const auto ended = run_with_mock("", {"--mmproj", "projector.gguf", "--image", "--prompt-form",
                                        "chat", "--no-plain", "--spec-type", "draft-mtp"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto document = run.document();
  EXPECT_THAT(document.at("servers").at(0).at("command_line").get<std::string>(),
              HasSubstr("--mmproj projector.gguf"));
  EXPECT_EQ(workload_of(document).at("decode").at("tokens_per_pass").at("value"), 2.5);
}

TEST_F(ManagedRun, refuses_pictures_without_a_projector) {
  const auto ended = run_with_mock(
      "", {"--image", "--prompt-form", "chat", "--no-plain", "--spec-type", "draft-mtp"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.errors, HasSubstr("takes no images"));
}

}  // namespace
}  // namespace paceline
