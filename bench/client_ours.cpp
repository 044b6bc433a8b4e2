#include <unordered_map>

#include "client_load.hpp"
#include "net/client.hpp"
#include "net/sse.hpp"

namespace paceline::bench {

util::Result<Seen> run_ours(std::uint16_t port, const Load& load) {
  Tally tally(load);
  net::Client client({});
  std::unordered_map<net::ExchangeId, net::SseParser> parsers;
  for (int i = 0; i < load.streams; ++i)
    parsers[client.start({false, "127.0.0.1", port, ""}, {"POST", "/v1/completions", {}, "{}"})];
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(load.seconds + 60);
  std::vector<net::SseEvent> events;
  while (!tally.done()) {
    const auto arrival = client.next(until);
    if (!arrival) break;
    if (std::holds_alternative<net::Head>(arrival->what)) tally.answered();
    if (std::holds_alternative<net::End>(arrival->what)) tally.ended();
    const auto* body = std::get_if<net::Body>(&arrival->what);
    if (body == nullptr) continue;
    events.clear();
    parsers[arrival->exchange].feed(body->bytes, events);
    for (const auto& event : events) tally.event(event.data, arrival->at);
  }
  return tally.seen();
}

}  // namespace paceline::bench
