#include "engine/server/managed_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "engine/server/binary.hpp"
#include "engine/server/server_arguments.hpp"
#include "machine/listener.hpp"
#include "util/clock.hpp"
#include "util/files.hpp"
#include "util/interrupt.hpp"

namespace paceline::engine::server {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_ports = 5;
constexpr int shortest_pause_ms = 10;
constexpr int longest_pause_ms = 200;
constexpr int http_ok = 200;
constexpr auto hurried_patience = std::chrono::milliseconds(3000);  // after Ctrl-C
constexpr auto kill_patience = std::chrono::seconds(5);

/// Waits for a word before it becomes the server, so that the guard is there before it runs: one
/// that this program dies before is never started.
constexpr const char* launcher = R"(log=$1; shift; exec >>"$log" 2>&1
read -r go || exit 125
exec "$@" </dev/null)";

/// Outlives this program when it is killed, sees its end of the pipe close, and ends the group.
constexpr const char* guard = R"(read -r end && exit 0
kill -s KILL -- "-$1" 2>/dev/null)";

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

/// Binds to loopback and says to which port; 0 when it cannot.
std::uint16_t bind_to(std::uint16_t port) {
  const Descriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (descriptor.number < 0 || ::bind(descriptor.number, generic, length) != 0 ||
      ::getsockname(descriptor.number, generic, &length) != 0)
    return 0;
  return ntohs(address.sin_port);
}

bool mentions_trouble(const std::string& line) {
  std::string lower = line;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  const auto has = [&](const char* word) { return lower.find(word) != std::string::npos; };
  // llama-server's farewell comes after the line that says why.
  if (has("exiting due to")) return false;
  return has("error") || has("failed") || has("couldn't") || has("not found") || has("invalid");
}

/// The last line that says what went wrong, else the last of all; empty without any.
std::string last_words(const std::vector<std::string>& log) {
  const auto found = std::find_if(log.rbegin(), log.rend(), mentions_trouble);
  if (found != log.rend()) return *found;
  return log.empty() ? std::string() : log.back();
}

/// Lets a little time pass; false when the user asked to stop.
bool pause(int milliseconds) {
  pollfd wait{util::interrupt_descriptor(), POLLIN, 0};
  ::poll(&wait, 1, milliseconds);
  return !util::interrupted();
}

}  // namespace

util::Result<std::uint16_t> free_port() {
  const std::uint16_t port = bind_to(0);
  if (port != 0) return port;
  return util::fail(util::ErrorKind::engine,
                    std::string("no free port on 127.0.0.1: ") + std::strerror(errno));
}

bool is_taken(std::uint16_t port) { return bind_to(port) == 0; }

ManagedServer::ManagedServer(Health health, ManagedOptions options)
    : health_(std::move(health)), options_(std::move(options)) {
  if (options_.log_folder.empty()) options_.log_folder = util::cache_folder() / "logs";
}

ManagedServer::~ManagedServer() { close(); }

/// Everything that can be wrong before a process runs.
util::Result<void> ManagedServer::prepare(const trace::Setup& setup) {
  PACELINE_TRY(check_user_arguments(setup.server_args));
  const auto program = util::find_program(setup.server_bin);
  if (!program)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("'{}' is no program that can be run: name llama-server's file "
                                  "with --server-bin.",
                                  setup.server_bin));
  program_ = program->string();
  PACELINE_TRY_ASSIGN(Binary binary, read_binary(*program));
  binary_sha256_ = std::move(binary.sha256);
  binary_is_script_ = binary.is_script;
  PACELINE_TRY_ASSIGN(log_, LogFile::create(options_.log_folder));
  return {};
}

tl::expected<net::Url, trace::Outcome> ManagedServer::start(const trace::Setup& setup) {
  close();
  const auto refused = [](const util::Error& error) {
    return tl::unexpected(trace::ended(trace::OutcomeKind::refused, error.message));
  };
  if (const auto prepared = prepare(setup); !prepared) return refused(prepared.error());
  for (int attempt = 1;; ++attempt) {
    const auto port = free_port();
    if (!port) return refused(port.error());
    auto started = start_at(setup, *port);
    // Between our finding it free and its using it another program may have taken the port.
    const bool again = !started && started.error().exit_code && is_taken(*port);
    if (!again || attempt == most_ports) return started;
  }
}

tl::expected<net::Url, trace::Outcome> ManagedServer::start_at(const trace::Setup& setup,
                                                               std::uint16_t port) {
  net::Url server;
  server.host = "127.0.0.1";
  server.port = port;
  if (const auto launched = launch(setup, port); !launched)
    return tl::unexpected(give_up(trace::OutcomeKind::refused, launched.error().message));
  if (auto problem = wait_until_healthy(server)) return tl::unexpected(std::move(*problem));
  return server;
}

util::Result<void> ManagedServer::launch(const trace::Setup& setup, std::uint16_t port) {
  std::vector<std::string> command{program_};
  for (auto& argument : server_arguments(setup, options_.slots, port))
    command.push_back(std::move(argument));
  command_line_ = command_text(command, own_environment());
  std::vector<std::string> launch{"/bin/sh", "-c", launcher, "paceline-launcher",
                                  log_->path().string()};
  launch.insert(launch.end(), command.begin(), command.end());
  PACELINE_TRY_ASSIGN(server_, util::ChildProcess::start(launch, {"GGML_NO_BACKTRACE=1"}));
  const std::string group = std::to_string(server_->id());
  PACELINE_TRY_ASSIGN(
      guard_, util::ChildProcess::start({"/bin/sh", "-c", guard, "paceline-guard", group}, {}));
  server_->write("go\n");
  server_->close_input();
  return {};
}

/// Nothing once it is.
std::optional<trace::Outcome> ManagedServer::wait_until_healthy(const net::Url& server) {
  const auto began = Clock::now();
  auto heard = began;
  std::uintmax_t logged = 0;
  std::optional<Clock::time_point> stranger_until;
  std::optional<int> status;
  for (int wait_ms = shortest_pause_ms;; wait_ms = std::min(2 * wait_ms, longest_pause_ms)) {
    status = health_(server);
    if (server_->has_ended()) return reap("before it was ready");
    if (status == http_ok && !is_a_stranger(server)) return std::nullopt;
    if (status == http_ok && !stranger_until)
      stranger_until = Clock::now() + options_.stranger_patience;
    if (stranger_until && Clock::now() >= *stranger_until)
      return give_up(trace::OutcomeKind::refused,
                     fmt::format("what answers at {} is no process of {}: a server that hands its "
                                 "work to others has to be started by you and named with --url",
                                 server.text(), program_));
    if (!pause(wait_ms)) return give_up(trace::OutcomeKind::cancelled, "stopped by the user");
    log_->trim();
    const auto now = Clock::now();
    if (log_->size() != logged) heard = now;
    logged = log_->size();
    const bool silent = now >= heard + options_.silence;
    if (!silent && now < began + options_.patience) continue;
    const auto waited = silent ? options_.silence : options_.patience;
    return give_up(trace::OutcomeKind::timed_out,
                   fmt::format("{} was not ready after {}{}: {}", program_,
                               util::for_people(static_cast<double>(waited.count())),
                               silent ? " without a word in its log (--patience)" : "",
                               status ? fmt::format("its /health answers {}", *status)
                                      : "its /health does not answer"));
  }
}

/// Somebody may have been faster at the port; ours then ends by itself. Where the system does not
/// show who listens, what answers is taken for ours.
bool ManagedServer::is_a_stranger(const net::Url& server) const {
  return machine::who_listens(server.port, server_->id()) == machine::Listener::other;
}

std::optional<trace::Outcome> ManagedServer::ended() {
  if (!server_) return std::nullopt;
  log_->trim();
  if (!server_->has_ended()) return std::nullopt;
  return reap("during the run");
}

std::optional<pid_t> ManagedServer::process_group() const {
  if (!server_) return std::nullopt;
  return server_->id();
}

std::vector<std::string> ManagedServer::log_tail() const {
  return log_ ? log_->tail() : std::vector<std::string>{};
}

trace::Outcome ManagedServer::give_up(trace::OutcomeKind kind, std::string reason) {
  trace::Outcome result = trace::ended(kind, std::move(reason));
  close();
  result.log_tail = log_tail();
  return result;
}

/// The outcome of one that has ended by itself; what it has left running is ended.
trace::Outcome ManagedServer::reap(const char* when) {
  server_->send_to_group(SIGKILL);
  const auto status = server_->wait(kill_patience).value_or(util::ExitStatus{});
  trace::Outcome result;
  result.signal = status.signal;
  result.exit_code = status.exit_code;
  result.log_tail = log_tail();
  // One that ends by itself before it served anything did not want to: it would not the next time.
  const bool declined = status.exit_code && std::string_view(when) == "before it was ready";
  result.kind = declined ? trace::OutcomeKind::refused : trace::OutcomeKind::crashed;
  result.reason = status.signal ? fmt::format("{} was ended by signal {} ({}) {}", program_,
                                              *status.signal, ::strsignal(*status.signal), when)
                                : fmt::format("{} ended by itself with exit code {} {}", program_,
                                              status.exit_code.value_or(-1), when);
  if (const std::string words = last_words(result.log_tail); !words.empty())
    result.reason += ": " + words;
  close();
  return result;
}

void ManagedServer::close() {
  if (server_) {
    server_->send_to_group(SIGTERM);
    const auto patience = util::interrupted() ? std::min(options_.end_patience, hurried_patience)
                                              : options_.end_patience;
    const auto until = Clock::now() + patience;
    while (!server_->has_ended() && Clock::now() < until) ::poll(nullptr, 0, 2);
    // Also when it ended by itself: others of its group may live on. Its number is taken until
    // wait() has told its end, so that this reaches nobody else.
    server_->send_to_group(SIGKILL);
    server_->wait(kill_patience);
    server_.reset();
  }
  if (guard_) {
    guard_->write("end\n");
    guard_->wait(kill_patience);
    guard_.reset();
  }
}

}  // namespace paceline::engine::server
