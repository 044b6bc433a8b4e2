#include "support/program.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

namespace paceline::support {

namespace {

constexpr auto hang_guard = std::chrono::seconds(240);

util::ChildProcess start(const std::string& home, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::string(PACELINE_BINARY_DIR) + "/paceline");
  auto child = util::ChildProcess::start(
      arguments, {"XDG_DATA_HOME=" + home + "/data", "XDG_CACHE_HOME=" + home + "/cache"});
  if (!child) throw std::runtime_error(child.error().message);
  return std::move(*child);
}

/// Appends what is there; false at the end of the stream.
bool read_available(int descriptor, std::string& text) {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
  if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace

Program::Program(const std::string& home, const std::vector<std::string>& arguments)
    : child_(start(home, arguments)) {}

pid_t Program::wait_for_child() {
  const std::string id = std::to_string(child_.id());
  const auto until = std::chrono::steady_clock::now() + hang_guard;
  while (std::chrono::steady_clock::now() < until && !child_.wait(std::chrono::milliseconds(0))) {
    std::ifstream children("/proc/" + id + "/task/" + id + "/children");
    pid_t child = -1;
    if (children >> child) return child;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return -1;
}

Ended Program::wait() {
  Ended ended;
  child_.close_input();
  bool output_open = true;
  bool errors_open = true;
  while (output_open || errors_open) {
    std::array<pollfd, 2> waits{pollfd{output_open ? child_.output() : -1, POLLIN, 0},
                                pollfd{errors_open ? child_.errors() : -1, POLLIN, 0}};
    const auto limit = std::chrono::milliseconds(hang_guard).count();
    if (::poll(waits.data(), waits.size(), static_cast<int>(limit)) <= 0) break;
    if (waits[0].revents != 0) output_open = read_available(child_.output(), ended.output);
    if (waits[1].revents != 0) errors_open = read_available(child_.errors(), ended.errors);
  }
  const auto status = child_.wait(hang_guard);
  EXPECT_TRUE(status) << "the program hangs";
  if (status && status->exit_code) ended.exit_code = *status->exit_code;
  if (status && status->signal) ended.exit_code = 128 + *status->signal;
  return ended;
}

Ended run_program(const std::string& home, const std::vector<std::string>& arguments) {
  return Program(home, arguments).wait();
}

}  // namespace paceline::support
