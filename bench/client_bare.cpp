// The floor: a loop that waits for sockets and reads them, and knows nothing of HTTP, errors or
// time limits. What it costs is the system's share in every client that wakes for an event.

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <unordered_map>

#include "client_load.hpp"
#include "net/sse.hpp"

namespace paceline::bench {

namespace {

constexpr std::string_view request = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}";

struct Stream {
  net::SseParser parser;
  bool answered = false;
};

int connect_to(std::uint16_t port) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  ::fcntl(connection, F_SETFL, O_NONBLOCK);
  ::send(connection, request.data(), request.size(), MSG_NOSIGNAL);
  return connection;
}

// Chunk heads look like lines of no known field to the event parser.
void take(std::string_view bytes, std::chrono::steady_clock::time_point at, Stream& stream,
          Tally& tally) {
  if (!std::exchange(stream.answered, true)) tally.answered();
  std::vector<net::SseEvent> events;
  stream.parser.feed(bytes, events);
  for (const auto& event : events) tally.event(event.data, at);
  if (bytes.ends_with("0\r\n\r\n")) tally.ended();
}

}  // namespace

util::Result<Seen> run_bare(std::uint16_t port, const Load& load) {
  Tally tally(load);
  std::unordered_map<int, Stream> streams;
  const int poller = ::epoll_create1(0);
  for (int i = 0; i < load.streams; ++i) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.fd = connect_to(port);
    ::epoll_ctl(poller, EPOLL_CTL_ADD, event.data.fd, &event);
    streams[event.data.fd];
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(load.seconds + 60);
  while (!tally.done() && std::chrono::steady_clock::now() < until) {
    std::array<epoll_event, 128> ready{};
    const int count = ::epoll_wait(poller, ready.data(), static_cast<int>(ready.size()), 1000);
    for (int i = 0; i < count; ++i) {
      const int connection = ready[static_cast<std::size_t>(i)].data.fd;
      std::array<char, 16384> space;
      const auto got = ::recv(connection, space.data(), space.size(), 0);
      const auto at = std::chrono::steady_clock::now();
      if (got > 0)
        take({space.data(), static_cast<std::size_t>(got)}, at, streams[connection], tally);
    }
  }
  for (const auto& [connection, stream] : streams) ::close(connection);
  ::close(poller);
  return tally.seen();
}

}  // namespace paceline::bench
