#include "engine/server/health.hpp"

namespace paceline::engine::server {

namespace {

constexpr auto patience = std::chrono::seconds(2);

}  // namespace

Health health_over(net::Client& client) {
  return [&client](const net::Url& server) -> std::optional<int> {
    net::Request request;
    request.target = "/health";
    const auto answer = client.fetch(server, std::move(request), patience);
    // A connection kept open would be the next server's port with the last one's end.
    client.close_idle();
    if (!answer) return std::nullopt;
    return answer->status;
  };
}

}  // namespace paceline::engine::server
