#include "engine/server/managed_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <memory>

#include "machine/process_memory.hpp"
#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::engine::server {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr int http_ok = 200;
constexpr int http_loading = 503;

/// A server that is a shell script, and the folder that it finds in $0's place.
class Fake {
 public:
  explicit Fake(const std::string& script) {
    const auto program = folder_.path() / "llama-server";
    EXPECT_TRUE(util::write_file(
        program, "#!/bin/sh\ncd '" + folder_.path().string() + "'\n" + script + "\n"));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    setup.server_bin = program.string();
    setup.model_path = "m.gguf";
    options.log_folder = folder_.path() / "logs";
    options.end_patience = std::chrono::milliseconds(50);
  }
  std::filesystem::path file(const char* name) const { return folder_.path() / name; }
  bool has(const char* name) const { return std::filesystem::exists(file(name)); }

  trace::Setup setup;
  ManagedOptions options;

 private:
  support::TemporaryFolder folder_;
};

/// Healthy as soon as the script has made the file `ready`.
Health when_ready(const Fake& fake) {
  return [&fake](const net::Url&) -> std::optional<int> {
    return fake.has("ready") ? http_ok : http_loading;
  };
}

Health never() {
  return [](const net::Url&) { return std::optional<int>(); };
}

constexpr const char* serve = "touch ready; exec sleep 1000";

/// Whether no process of a group is left, soon.
bool is_gone(pid_t group) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (machine::group_members(group).empty()) return true;
    ::poll(nullptr, 0, 10);
  }
  return false;
}

TEST(ManagedServer, is_where_it_says_once_it_is_healthy) {
  const Fake fake(std::string("echo \"$@\" >arguments; ") + serve);
  int asked = 0;
  ManagedServer server(
      [&](const net::Url&) -> std::optional<int> {
        ++asked;
        if (asked == 1) return std::nullopt;
        return fake.has("ready") && asked > 3 ? http_ok : http_loading;
      },
      fake.options);
  const auto url = server.start(fake.setup);
  ASSERT_TRUE(url) << url.error().reason;
  EXPECT_EQ(url->host, "127.0.0.1");
  EXPECT_GE(asked, 4);
  const std::string port = "--port " + std::to_string(url->port);
  EXPECT_THAT(*util::read_file(fake.file("arguments")), HasSubstr(port));
  EXPECT_THAT(server.command_line(), HasSubstr(port));
  EXPECT_EQ(server.binary_sha256().size(), 64u);
  EXPECT_TRUE(server.binary_is_script());
  EXPECT_THAT(machine::group_members(*server.process_group()), Contains(*server.process_group()));
  EXPECT_FALSE(server.ended());
}

TEST(ManagedServer, that_is_closed_is_gone_with_its_group_and_its_log) {
  const Fake fake("sleep 1000 & sleep 1000 & touch ready; wait");
  pid_t group = 0;
  {
    ManagedServer server(when_ready(fake), fake.options);
    ASSERT_TRUE(server.start(fake.setup));
    group = *server.process_group();
    EXPECT_EQ(machine::group_members(group).size(), 3u);
    server.close();
    EXPECT_TRUE(is_gone(group));
    EXPECT_FALSE(server.process_group());
    server.close();
  }
  EXPECT_TRUE(std::filesystem::is_empty(fake.options.log_folder));
}

TEST(ManagedServer, that_ignores_being_asked_is_killed_with_its_children) {
  const Fake fake("trap '' TERM; sleep 1000 & touch ready; while :; do wait; done");
  ManagedServer server(when_ready(fake), fake.options);
  ASSERT_TRUE(server.start(fake.setup));
  const pid_t group = *server.process_group();
  server.close();
  EXPECT_TRUE(is_gone(group));
}

TEST(ManagedServer, that_dies_while_loading_is_refused_with_its_code_and_its_words) {
  const Fake fake("echo loading; echo 'error: no such file m.gguf' >&2; echo bye; exit 3");
  ManagedServer server(never(), fake.options);
  const auto url = server.start(fake.setup);
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().kind, trace::OutcomeKind::refused);
  EXPECT_EQ(url.error().exit_code, 3);
  EXPECT_THAT(url.error().reason,
              HasSubstr("exit code 3 before it was ready: error: no such file"));
  EXPECT_THAT(url.error().log_tail,
              testing::ElementsAre("loading", "error: no such file m.gguf", "bye"));
  EXPECT_FALSE(server.process_group());
}

TEST(ManagedServer, that_crashes_while_loading_says_by_which_signal) {
  const Fake fake("kill -SEGV $$");
  ManagedServer server(never(), fake.options);
  const auto url = server.start(fake.setup);
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().kind, trace::OutcomeKind::crashed);
  EXPECT_EQ(url.error().signal, SIGSEGV);
}

TEST(ManagedServer, that_dies_during_the_run_is_a_crash_and_leaves_no_child) {
  const Fake fake("sleep 1000 & touch ready; until [ -e die ]; do sleep 0.01; done; exit 7");
  ManagedServer server(when_ready(fake), fake.options);
  ASSERT_TRUE(server.start(fake.setup));
  const pid_t group = *server.process_group();
  EXPECT_FALSE(server.ended());
  ASSERT_TRUE(util::write_file(fake.file("die"), ""));
  std::optional<trace::Outcome> outcome;
  for (int tries = 0; tries < 1000 && !outcome; ++tries, ::poll(nullptr, 0, 10))
    outcome = server.ended();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, trace::OutcomeKind::crashed);
  EXPECT_EQ(outcome->exit_code, 7);
  EXPECT_TRUE(is_gone(group));
  EXPECT_FALSE(server.ended());
}

TEST(ManagedServer, that_is_never_healthy_is_ended_and_says_what_it_answered) {
  Fake fake("exec sleep 1000");
  fake.options.patience = std::chrono::seconds(0);
  pid_t group = 0;
  ManagedServer* started = nullptr;
  ManagedServer server(
      [&](const net::Url&) -> std::optional<int> {
        group = *started->process_group();
        return http_loading;
      },
      fake.options);
  started = &server;
  const auto url = server.start(fake.setup);
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().kind, trace::OutcomeKind::timed_out);
  EXPECT_THAT(url.error().reason, HasSubstr("/health answers 503"));
  ASSERT_GT(group, 0);
  EXPECT_TRUE(is_gone(group));
}

TEST(ManagedServer, that_floods_its_log_is_not_held_up_by_it) {
  // 4 MB are many times what a pipe holds; `ready` comes after them.
  const Fake fake(
      "head -c 4000000 /dev/zero | tr '\\0' x | fold -w 100; echo; echo the end; "
      "touch ready; exec sleep 1000");
  ManagedServer server(when_ready(fake), fake.options);
  ASSERT_TRUE(server.start(fake.setup));
  const auto tail = server.log_tail();
  ASSERT_EQ(tail.size(), 30u);
  EXPECT_EQ(tail.back(), "the end");
  EXPECT_EQ(tail.front(), std::string(100, 'x'));
}

/// Listens on a port of loopback as another program would.
class Stranger {
 public:
  explicit Stranger(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  ~Stranger() { ::close(socket_); }

 private:
  int socket_;
};

TEST(ManagedServer, whose_port_was_taken_meanwhile_is_started_at_another) {
  const Fake fake(
      "if mkdir first 2>/dev/null; then while [ ! -e taken ]; do sleep 0.01; done; "
      "echo \"couldn't bind HTTP server socket\"; exit 1; fi; " +
      std::string(serve));
  std::unique_ptr<Stranger> stranger;
  std::uint16_t taken = 0;
  ManagedServer server(
      [&](const net::Url& url) -> std::optional<int> {
        if (!stranger) {
          stranger = std::make_unique<Stranger>(url.port);
          taken = url.port;
          EXPECT_TRUE(is_taken(taken));
          EXPECT_TRUE(util::write_file(fake.file("taken"), ""));
        }
        // The stranger is healthy from the start.
        return url.port == taken || fake.has("ready") ? http_ok : http_loading;
      },
      fake.options);
  const auto url = server.start(fake.setup);
  ASSERT_TRUE(url) << url.error().reason;
  EXPECT_NE(url->port, taken);
}

TEST(ManagedServer, is_not_taken_for_a_stranger_that_answers_at_its_port) {
  Fake fake(serve);
  fake.options.stranger_patience = std::chrono::milliseconds(0);
  std::unique_ptr<Stranger> stranger;
  ManagedServer server(
      [&](const net::Url& url) -> std::optional<int> {
        if (!stranger) stranger = std::make_unique<Stranger>(url.port);
        return http_ok;
      },
      fake.options);
  const auto url = server.start(fake.setup);
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().kind, trace::OutcomeKind::refused);
  EXPECT_THAT(url.error().reason, HasSubstr("is no process of"));
}

TEST(ManagedServer, that_is_no_program_is_refused_before_anything_starts) {
  Fake fake(serve);
  fake.setup.server_bin = "/no/such/llama-server";
  ManagedServer server(never(), fake.options);
  const auto url = server.start(fake.setup);
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().kind, trace::OutcomeKind::refused);
  EXPECT_THAT(url.error().reason, HasSubstr("/no/such/llama-server"));
  fake.setup.server_bin = fake.file("").string();
  EXPECT_FALSE(server.start(fake.setup));
}

TEST(ManagedServer, with_a_secret_among_its_arguments_is_refused) {
  Fake fake(serve);
  fake.setup.server_args = {"--api-key", "s3cret"};
  ManagedServer server(when_ready(fake), fake.options);
  const auto url = server.start(fake.setup);
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().reason.find("s3cret"), std::string::npos);
  EXPECT_EQ(server.command_line(), "");
}

/// The body of a process that starts a server, says which group it is, and waits to be killed.
[[noreturn]] void start_and_wait(const Fake& fake, int say) {
  ManagedServer server(when_ready(fake), fake.options);
  const auto url = server.start(fake.setup);
  const pid_t group = url ? *server.process_group() : -1;
  if (::write(say, &group, sizeof group) != sizeof group) ::_exit(1);
  while (true) ::pause();
}

// Regression: a server left behind holds its port, its memory and the machine.
TEST(ManagedServer, does_not_outlive_a_paceline_that_is_killed) {
  const Fake fake("trap '' TERM HUP; sleep 1000 & touch ready; while :; do wait; done");
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t paceline = ::fork();
  if (paceline == 0) start_and_wait(fake, pipe[1]);
  ::close(pipe[1]);
  pid_t group = -1;
  ASSERT_EQ(::read(pipe[0], &group, sizeof group), static_cast<ssize_t>(sizeof group));
  ::close(pipe[0]);
  ASSERT_GT(group, 0);
  EXPECT_EQ(machine::group_members(group).size(), 2u);
  ::kill(paceline, SIGKILL);
  ::waitpid(paceline, nullptr, 0);
  EXPECT_TRUE(is_gone(group));
}

}  // namespace
}  // namespace paceline::engine::server
