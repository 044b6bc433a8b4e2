#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "net/client.hpp"

namespace paceline::support {

/// What came of one exchange.
struct Exchanged {
  int heads = 0;
  int status = 0;
  net::Headers headers;
  std::string body;
  std::vector<net::TimePoint> times;
  int ends = 0;
  net::EndKind end{};
  std::string reason;
};

/// Long enough for any machine; a test that needs it all has failed.
inline net::TimePoint patience() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(30);
}

inline void take(net::Arrival arrival, Exchanged& exchanged) {
  exchanged.times.push_back(arrival.at);
  if (auto* head = std::get_if<net::Head>(&arrival.what)) {
    ++exchanged.heads;
    exchanged.status = head->status;
    exchanged.headers = std::move(head->headers);
  } else if (auto* body = std::get_if<net::Body>(&arrival.what)) {
    exchanged.body += body->bytes;
  } else {
    ++exchanged.ends;
    exchanged.end = std::get<net::End>(arrival.what).kind;
    exchanged.reason = std::get<net::End>(arrival.what).reason;
  }
}

/// Runs the client until so many exchanges have ended; fewer when patience is out.
inline std::map<net::ExchangeId, Exchanged> run_to_end(net::Client& client, std::size_t exchanges) {
  std::map<net::ExchangeId, Exchanged> all;
  const auto until = patience();
  for (std::size_t ended = 0; ended < exchanges;) {
    auto arrival = client.next(until);
    if (!arrival) break;
    if (std::holds_alternative<net::End>(arrival->what)) ++ended;
    Exchanged& one = all[arrival->exchange];
    take(std::move(*arrival), one);
  }
  return all;
}

/// One exchange alone.
inline Exchanged run_one(net::Client& client, const net::Url& server, net::Request request = {}) {
  const net::ExchangeId id = client.start(server, std::move(request));
  return run_to_end(client, 1)[id];
}

/// Where a SocketServer listens.
inline net::Url at_port(std::uint16_t port, bool secure = false) {
  return {secure, "127.0.0.1", port, ""};
}

}  // namespace paceline::support
