#include "net/client.hpp"

#include <fmt/format.h>

#include "net/loop.hpp"

namespace paceline::net {

namespace {

std::string_view name_of(EndKind kind) {
  switch (kind) {
    case EndKind::complete:
      return "complete";
    case EndKind::refused:
      return "refused";
    case EndKind::timed_out:
      return "timed out";
    case EndKind::cut:
      return "cut off";
    case EndKind::malformed:
      return "malformed";
    case EndKind::cancelled:
      return "cancelled";
  }
  return "unknown";
}

/// Puts an arrival into the answer; the end, when it was one.
std::optional<End> take(Arrival arrival, Response& response) {
  if (auto* head = std::get_if<Head>(&arrival.what)) {
    response.status = head->status;
    response.headers = std::move(head->headers);
  } else if (auto* body = std::get_if<Body>(&arrival.what)) {
    response.body += body->bytes;
  } else {
    return std::get<End>(std::move(arrival.what));
  }
  return std::nullopt;
}

}  // namespace

Client::Client(ClientOptions options) : loop_(std::make_unique<Loop>(std::move(options))) {}
Client::~Client() = default;

ExchangeId Client::start(const Url& server, Request request) {
  return loop_->start(server, request);
}

std::optional<Arrival> Client::next(TimePoint until) { return loop_->next(until); }

void Client::cancel(ExchangeId exchange) { loop_->cancel(exchange); }

util::Result<Response> Client::fetch(const Url& server, Request request,
                                     std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  const std::string what = fmt::format("{} {}{}", request.method, server.text(), request.target);
  const ExchangeId id = loop_->start(server, request);
  Response response;
  std::optional<End> end;
  std::deque<Arrival> others;
  while (!end) {
    auto arrival = loop_->next(until);
    if (!arrival) break;
    if (arrival->exchange == id)
      end = take(std::move(*arrival), response);
    else
      others.push_back(std::move(*arrival));
  }
  if (!end) loop_->cancel(id);
  loop_->give_back(std::move(others), id);
  if (end && end->kind == EndKind::complete) return response;
  if (end)
    return util::fail(util::ErrorKind::engine,
                      fmt::format("{}: {}: {}", what, name_of(end->kind), end->reason));
  if (std::chrono::steady_clock::now() < until)
    return util::fail(util::ErrorKind::engine, fmt::format("{}: interrupted", what));
  return util::fail(util::ErrorKind::engine,
                    fmt::format("{}: no whole answer within {} ms", what, patience.count()));
}

void Client::close_idle() { loop_->close_idle(); }

ClientLoad Client::load() const { return loop_->load(); }
void Client::restart_lag() { loop_->restart_lag(); }

}  // namespace paceline::net
