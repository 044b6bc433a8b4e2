#include "util/interrupt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

namespace paceline::util {

namespace {

std::atomic<bool> caught{false};
std::atomic<int> read_end{-1};
std::atomic<int> write_end{-1};

void remember(int signal) {
  if (caught.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  const char byte = 0;
  [[maybe_unused]] const auto written = ::write(write_end.load(), &byte, 1);
}

}  // namespace

void catch_interrupts() {
  std::array<int, 2> ends{};
  if (read_end.load() < 0 && ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
    read_end = ends[0];
    write_end = ends[1];
  }
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
  std::signal(SIGHUP, remember);
}

bool interrupted() { return caught.load(); }

int interrupt_descriptor() { return read_end.load(); }

}  // namespace paceline::util
