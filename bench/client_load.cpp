#include "client_load.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <random>

namespace paceline::bench {

namespace {

constexpr std::string_view head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view last_chunk = "0\r\n\r\n";
constexpr std::string_view stamp = "\"sent\":";
// As long as what common servers send with a token.
constexpr std::string_view event_end =
    ",\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\",\"model\":\"m\","
    "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n";
constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t start_delay_ns = second_ns / 2;

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * second_ns + now.tv_nsec;
}

void sleep_until(std::int64_t moment_ns) {
  const timespec moment{moment_ns / second_ns, moment_ns % second_ns};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr);
}

tl::unexpected<util::Error> failed(const char* what) {
  return util::fail(util::ErrorKind::internal, fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Or the process ends: the client then misses events and says so.
void send_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) std::_Exit(1);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void receive_request(int descriptor) {
  std::string request;
  std::array<char, 4096> space{};
  while (request.find("\r\n\r\n") == std::string::npos) {
    const auto got = ::recv(descriptor, space.data(), space.size(), 0);
    if (got <= 0) std::_Exit(1);
    request.append(space.data(), static_cast<std::size_t>(got));
  }
}

std::vector<int> accept_all(int listener, int streams) {
  std::vector<int> connections;
  for (int i = 0; i < streams; ++i) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection < 0) std::_Exit(1);
    const int on = 1;
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections.push_back(connection);
  }
  return connections;
}

void send_event(int connection) {
  std::array<char, 512> chunk{};
  const std::string event =
      fmt::format("data: {{{}{}{}", stamp, now_ns(CLOCK_MONOTONIC), event_end);
  const auto end =
      fmt::format_to_n(chunk.data(), chunk.size(), "{:x}\r\n{}\r\n", event.size(), event);
  send_all(connection, {chunk.data(), end.size});
}

[[noreturn]] void serve(int listener, const Load& load) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_TIMERSLACK, 1);
  const std::vector<int> connections = accept_all(listener, load.streams);
  for (const int connection : connections) receive_request(connection);
  for (const int connection : connections) send_all(connection, head);

  const std::int64_t period = second_ns / load.rate;
  std::mt19937_64 random(1);
  std::vector<std::pair<std::int64_t, int>> order;  // first event, connection
  for (const int connection : connections)
    order.emplace_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(period)),
                       connection);
  std::sort(order.begin(), order.end());
  const std::int64_t began = now_ns(CLOCK_MONOTONIC) + start_delay_ns;
  for (int turn = 0; turn < load.rate * load.seconds; ++turn)
    for (const auto& [phase, connection] : order) {
      const std::int64_t due = began + turn * period + phase;
      if (due > now_ns(CLOCK_MONOTONIC)) sleep_until(due);
      send_event(connection);
    }
  for (const int connection : connections) send_all(connection, last_chunk);
  // The client closes first, so that the ports it used are not held up here.
  std::array<char, 16> space{};
  for (const int connection : connections)
    while (::recv(connection, space.data(), space.size(), 0) > 0) {
    }
  std::_Exit(0);
}

float percentile(std::vector<float>& values, double share) {
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

}  // namespace

util::Result<LoadServer> LoadServer::start(const Load& load) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, plain, size) != 0 || ::listen(listener, 8192) != 0 ||
      ::getsockname(listener, plain, &size) != 0)
    return failed("No socket to listen at");
  const pid_t process = ::fork();
  if (process == 0) serve(listener, load);
  ::close(listener);
  if (process < 0) return failed("No process for the server");
  return LoadServer(process, ntohs(address.sin_port));
}

LoadServer::LoadServer(LoadServer&& other) noexcept
    : process_(std::exchange(other.process_, -1)), port_(other.port_) {}

LoadServer::~LoadServer() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

Tally::Tally(const Load& load) : load_(load) {
  lags_ms_.reserve(static_cast<std::size_t>(load.events()));
}

void Tally::answered() {
  if (++answered_ == load_.streams)
    cpu_before_s_ = static_cast<double>(now_ns(CLOCK_THREAD_CPUTIME_ID)) * 1e-9;
}

void Tally::event(std::string_view data, std::chrono::steady_clock::time_point at) {
  const std::size_t begin = data.find(stamp);
  if (begin == std::string_view::npos) return;
  std::int64_t sent_ns = 0;
  std::from_chars(data.data() + begin + stamp.size(), data.data() + data.size(), sent_ns);
  const auto at_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch());
  lags_ms_.push_back(static_cast<float>(at_ns.count() - sent_ns) * 1e-6F);
}

util::Result<Seen> Tally::seen() {
  const double cpu_s = static_cast<double>(now_ns(CLOCK_THREAD_CPUTIME_ID)) * 1e-9 - cpu_before_s_;
  const auto events = static_cast<long>(lags_ms_.size());
  if (answered_ != load_.streams || events != load_.events())
    return util::fail(util::ErrorKind::engine,
                      fmt::format("{} streams of {} were answered and {} events of {} came",
                                  answered_, load_.streams, events, load_.events()));
  return Seen{cpu_s * 1e6 / static_cast<double>(events), percentile(lags_ms_, 0.5),
              percentile(lags_ms_, 0.99)};
}

}  // namespace paceline::bench
