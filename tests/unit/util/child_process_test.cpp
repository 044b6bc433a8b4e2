#include "util/child_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace paceline::util {
namespace {

constexpr auto patience = std::chrono::seconds(20);

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 256> bytes{};
  ssize_t count = 0;
  while ((count = ::read(descriptor, bytes.data(), bytes.size())) > 0)
    text.append(bytes.data(), static_cast<std::size_t>(count));
  return text;
}

TEST(ChildProcess, reads_what_is_written_to_it_and_ends_when_its_input_closes) {
  auto child = ChildProcess::start({"/bin/cat"}, {});
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_TRUE(child->write("through the pipe"));
  child->close_input();
  EXPECT_EQ(read_all(child->output()), "through the pipe");
  EXPECT_EQ(child->wait(patience)->exit_code, 0);
}

TEST(ChildProcess, sees_the_environment_it_was_given) {
  auto child = ChildProcess::start({"/bin/sh", "-c", "echo $PACELINE_TEST; echo oops >&2"},
                                   {"PACELINE_TEST=seen"});
  ASSERT_TRUE(child);
  EXPECT_EQ(read_all(child->output()), "seen\n");
  EXPECT_EQ(read_all(child->errors()), "oops\n");
}

TEST(ChildProcess, that_was_killed_says_by_which_signal) {
  auto child = ChildProcess::start({"/bin/cat"}, {});
  ASSERT_TRUE(child);
  child->send(SIGSEGV);
  const auto status = child->wait(patience);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->signal, SIGSEGV);
  EXPECT_FALSE(status->exit_code);
}

TEST(ChildProcess, that_does_not_exist_is_an_error_with_its_path) {
  const auto child = ChildProcess::start({"/no/such/program"}, {});
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("/no/such/program"), std::string::npos);
}

TEST(ChildProcess, that_has_ended_keeps_its_number_until_it_is_waited_for) {
  auto child = ChildProcess::start({"/bin/sh", "-c", "read -r word"}, {});
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->has_ended());
  child->close_input();
  while (!child->has_ended()) ::poll(nullptr, 0, 1);
  EXPECT_EQ(::kill(child->id(), 0), 0);
  EXPECT_EQ(child->wait(patience)->exit_code, 1);
  EXPECT_TRUE(child->has_ended());
  EXPECT_EQ(::kill(child->id(), 0), -1);
}

TEST(ChildProcess, sends_a_signal_to_the_children_of_its_child_too) {
  auto child = ChildProcess::start({"/bin/sh", "-c", "sleep 1000 & echo started; wait"}, {});
  ASSERT_TRUE(child);
  std::array<char, 8> bytes{};
  ASSERT_EQ(::read(child->output(), bytes.data(), bytes.size()), 8);
  child->send_to_group(SIGKILL);
  // Both hold the pipe: it ends when both are gone.
  EXPECT_EQ(read_all(child->output()), "");
  EXPECT_EQ(child->wait(patience)->signal, SIGKILL);
}

TEST(ChildProcess, does_not_outlive_its_owner) {
  pid_t id = 0;
  {
    auto child = ChildProcess::start({"/bin/sleep", "1000"}, {});
    ASSERT_TRUE(child);
    id = child->id();
    EXPECT_EQ(::kill(id, 0), 0);
  }
  EXPECT_NE(::kill(id, 0), 0);
}

}  // namespace
}  // namespace paceline::util
