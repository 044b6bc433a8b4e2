#include "util/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "util/interrupt.hpp"

namespace paceline::util {

namespace {

constexpr int write_patience_ms = 30'000;

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
};

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> whole_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> result = additions;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view existing(*variable);
    const std::string_view name = existing.substr(0, existing.find('=') + 1);
    const bool replaced =
        std::any_of(additions.begin(), additions.end(),
                    [&](const std::string& addition) { return addition.rfind(name, 0) == 0; });
    if (!replaced) result.emplace_back(existing);
  }
  return result;
}

/// The spawn itself; returns errno's value.
int spawn(pid_t& id, std::vector<std::string> arguments, std::vector<std::string> environment,
          const Pipe& input, const Pipe& output, const Pipe& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write_end, STDERR_FILENO);
  // A group of its own: the terminal's Ctrl-C reaches paceline alone, which then decides.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);
  const int problem = posix_spawn(&id, arguments[0].c_str(), &actions, &attributes,
                                  argument_pointers.data(), environment_pointers.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& environment) {
  Pipe input;
  Pipe output;
  Pipe errors;
  int problem = 0;
  ChildProcess child;
  if (!input.open() || !output.open() || !errors.open())
    problem = errno;
  else
    problem = spawn(child.id_, arguments, whole_environment(environment), input, output, errors);
  close_descriptor(input.read_end);
  close_descriptor(output.write_end);
  close_descriptor(errors.write_end);
  child.input_ = input.write_end;
  // A child that stops reading must not stop us too.
  if (child.input_ >= 0) ::fcntl(child.input_, F_SETFL, O_NONBLOCK);
  child.output_ = output.read_end;
  child.errors_ = errors.read_end;
  if (problem != 0) {
    child.id_ = -1;
    return fail(ErrorKind::engine, "cannot start " + arguments[0] + ": " + std::strerror(problem));
  }
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  end();
  id_ = std::exchange(other.id_, -1);
  input_ = std::exchange(other.input_, -1);
  output_ = std::exchange(other.output_, -1);
  errors_ = std::exchange(other.errors_, -1);
  status_ = std::exchange(other.status_, std::nullopt);
  return *this;
}

ChildProcess::~ChildProcess() { end(); }

void ChildProcess::end() {
  close_input();
  if (id_ > 0 && !status_) {
    send(SIGKILL);
    wait(std::chrono::seconds(5));
  }
  close_descriptor(output_);
  close_descriptor(errors_);
}

bool ChildProcess::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(input_, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || (errno != EINTR && errno != EAGAIN) || !wait_for_room()) {
      return false;
    }
  }
  return true;
}

/// Waits until the pipe takes more; false when the child does not read for a while, or when the
/// user has asked to stop and it is not reading.
bool ChildProcess::wait_for_room() const {
  std::array<pollfd, 2> waits{pollfd{input_, POLLOUT, 0},
                              pollfd{interrupt_descriptor(), POLLIN, 0}};
  const int ready = ::poll(waits.data(), waits.size(), write_patience_ms);
  return (ready > 0 && (waits[0].revents & POLLOUT) != 0) || (ready < 0 && errno == EINTR);
}

void ChildProcess::close_input() { close_descriptor(input_); }

void ChildProcess::send(int signal) {
  if (id_ > 0 && !status_) ::kill(id_, signal);
}

void ChildProcess::send_to_group(int signal) {
  if (id_ > 0 && !status_) ::kill(-id_, signal);
}

bool ChildProcess::has_ended() const {
  if (id_ <= 0 || status_) return true;
  siginfo_t info{};
  const int problem = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
  return problem != 0 || info.si_pid == id_;
}

std::optional<ExitStatus> ChildProcess::wait(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!status_ && id_ > 0) {
    int status = 0;
    const pid_t ended = ::waitpid(id_, &status, WNOHANG);
    if (ended == id_) {
      status_ = ExitStatus{};
      if (WIFSIGNALED(status)) status_->signal = WTERMSIG(status);
      if (WIFEXITED(status)) status_->exit_code = WEXITSTATUS(status);
    } else if (ended < 0 || std::chrono::steady_clock::now() >= until) {
      break;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return status_;
}

}  // namespace paceline::util
