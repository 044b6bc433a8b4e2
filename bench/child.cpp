#include "child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace paceline::bench {

namespace {

/// What a child's standard output and error become.
class Redirections {
 public:
  explicit Redirections(const std::array<int, 2>& pipe) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, pipe[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions_, pipe[0]);
    posix_spawn_file_actions_addclose(&actions_, pipe[1]);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;
  ~Redirections() { posix_spawn_file_actions_destroy(&actions_); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> bytes{};
  while (true) {
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
    if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

util::Result<Ran> run_to_end(const std::vector<std::string>& arguments) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> words;
  for (std::string& copy : copies) words.push_back(copy.data());
  words.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0)
    return util::fail(util::ErrorKind::engine,
                      fmt::format("no pipe to {}: {}", arguments[0], std::strerror(errno)));
  const auto began = std::chrono::steady_clock::now();
  pid_t id = -1;
  const int refused =
      ::posix_spawn(&id, words[0], Redirections(pipe).get(), nullptr, words.data(), environ);
  ::close(pipe[1]);
  Ran ran;
  if (refused == 0) ran.output = read_to_end(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  if (refused == 0) ::waitpid(id, &status, 0);
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (refused != 0)
    return util::fail(util::ErrorKind::engine, fmt::format("{} cannot be started: {}", arguments[0],
                                                           std::strerror(refused)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return util::fail(util::ErrorKind::engine,
                      fmt::format("{} failed; run it by hand to see why: {}", arguments[0],
                                  fmt::join(arguments, " ")));
  return ran;
}

}  // namespace paceline::bench
