#include "cli/shell_command.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "util/child_process.hpp"
#include "util/interrupt.hpp"

namespace paceline::cli {

namespace {

constexpr int poll_ms = 200;

/// False once it has ended or its stream is closed.
bool read_some(int descriptor, std::string& text) {
  pollfd waiting{descriptor, POLLIN, 0};
  if (::poll(&waiting, 1, poll_ms) <= 0) return true;
  std::array<char, 4096> bytes{};
  const auto count = ::read(descriptor, bytes.data(), bytes.size());
  if (count <= 0) return false;
  text.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace

util::Result<Said> run_in(const std::string& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"/bin/sh", "-c", "cd \"$0\" && exec \"$@\" 2>&1 </dev/null", folder};
  all.insert(all.end(), arguments.begin(), arguments.end());
  PACELINE_TRY_ASSIGN(auto child, util::ChildProcess::start(all, {}));
  Said said;
  while (read_some(child.output(), said.text))
    if (util::interrupted()) child.send_to_group(SIGTERM);
  const auto ended = child.wait(std::chrono::hours(24));
  said.succeeded = ended && ended->exit_code == 0;
  return said;
}

}  // namespace paceline::cli
