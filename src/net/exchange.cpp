#include "net/exchange.hpp"

#include <fmt/format.h>

#include "net/loop.hpp"
#include "net/request_text.hpp"
#include "util/assert.hpp"

namespace paceline::net {

namespace {

using std::chrono::steady_clock;

std::chrono::milliseconds limit_of(Phase phase, const Timeouts& timeouts) {
  switch (phase) {
    case Phase::connecting:
      return timeouts.connect;
    case Phase::first_byte:
      return timeouts.first_byte;
    case Phase::body:
      return timeouts.idle;
  }
  return timeouts.idle;
}

std::string late(const Exchange& exchange, std::chrono::milliseconds limit) {
  const std::string server = exchange.server.text();
  switch (exchange.phase) {
    case Phase::connecting:
      return fmt::format("No connection to {} within {} ms", server, limit.count());
    case Phase::first_byte:
      return fmt::format("No answer from {} within {} ms", server, limit.count());
    case Phase::body:
      return fmt::format("Nothing more from {} for {} ms", server, limit.count());
  }
  return {};
}

}  // namespace

ExchangeId Client::Loop::start(const Url& server, const Request& request) {
  auto text = request_text(server, request);
  const auto exchange = std::make_shared<Exchange>(
      ++last_id_, server, text ? std::move(*text) : std::string(),
      AnswerParser(request.largest_answer > 0
                       ? std::min(request.largest_answer, options_.largest_body)
                       : options_.largest_body,
                   request.method == "HEAD"),
      context_);
  active_.emplace(exchange->id, exchange);
  watch_lag();
  if (text)
    begin(exchange);
  else
    refuse(exchange, text.error().message);
  return exchange->id;
}

void Client::Loop::begin(const Shared& exchange) {
  exchange->connection = pool_.take(exchange->server);
  exchange->reused = exchange->connection != nullptr;
  if (exchange->reused)
    send(exchange);
  else
    connect(exchange);
}

void Client::Loop::connect(const Shared& exchange) {
  wait_for(exchange, Phase::connecting, steady_clock::now());
  auto endpoints = pool_.endpoints(exchange->server);
  if (!endpoints) return refuse(exchange, endpoints.error().message);
  auto connection = pool_.make(exchange->server);
  if (!connection) return refuse(exchange, connection.error().message);
  exchange->connection = std::move(*connection);
  asio::async_connect(exchange->connection->socket(), *endpoints,
                      [this, exchange](const ErrorCode& error, const tcp::endpoint&) {
                        connected(exchange, error);
                      });
}

void Client::Loop::connected(const Shared& exchange, const ErrorCode& error) {
  if (exchange->ended) return;
  if (error) {
    pool_.forget(exchange->server);
    return refuse(exchange,
                  fmt::format("No connection to {}: {}", exchange->server.text(), error.message()));
  }
  ErrorCode ignored;
  exchange->connection->socket().set_option(tcp::no_delay(true), ignored);
  if (exchange->connection->secure() != nullptr)
    shake_hands(exchange);
  else
    send(exchange);
}

void Client::Loop::shake_hands(const Shared& exchange) {
  TlsStream& stream = *exchange->connection->secure();
  stream.async_handshake(TlsStream::client, [this, exchange, &stream](const ErrorCode& error) {
    if (exchange->ended) return;
    if (!error) return send(exchange);
    refuse(exchange, fmt::format("No secure connection to {}: {}", exchange->server.text(),
                                 handshake_problem(stream, error)));
  });
}

void Client::Loop::send(const Shared& exchange) {
  wait_for(exchange, Phase::first_byte, steady_clock::now());
  // A failure to write is left to the reading: the server may have answered before it closed.
  exchange->connection->write(exchange->text, [exchange, connection = exchange->connection](
                                                  const ErrorCode& error, std::size_t) {
    if (connection == exchange->connection) exchange->written = !error;
  });
  read(exchange);
}

void Client::Loop::read(const Shared& exchange) {
  exchange->connection->read(
      [this, exchange, connection = exchange->connection](
          const ErrorCode& error, std::size_t bytes) { on_read(exchange, error, bytes); });
}

void Client::Loop::on_read(const Shared& exchange, const ErrorCode& error, std::size_t bytes) {
  const auto at = steady_clock::now();
  if (exchange->ended) return;
  if (bytes > 0) on_bytes(exchange, exchange->connection->last_read(bytes), at);
  if (exchange->ended) return;
  if (error) return on_closed(exchange, error, at);
  wait_for(exchange, Phase::body, at);
  read(exchange);
}

void Client::Loop::on_bytes(const Shared& exchange, std::string_view bytes, TimePoint at) {
  AnswerParser::Step step = exchange->answer.feed(bytes);
  if (step.head)
    arrivals_.push_back({exchange->id, at, Head{step.head->status, std::move(step.head->headers)}});
  if (!step.body.empty()) arrivals_.push_back({exchange->id, at, Body{std::move(step.body)}});
  if (!step.problem.empty()) return end(exchange, EndKind::malformed, std::move(step.problem), at);
  if (!step.whole) return;
  if (exchange->answer.reusable() && exchange->written)
    pool_.give(exchange->server, std::move(exchange->connection));
  end(exchange, EndKind::complete, {}, at);
}

void Client::Loop::on_closed(const Shared& exchange, const ErrorCode& error, TimePoint at) {
  if (!exchange->answer.begun() && exchange->reused) {
    // The server closed it while it was idle, which nobody could know: begin again on a new one.
    exchange->connection->close();
    exchange->reused = false;
    exchange->written = false;
    return connect(exchange);
  }
  // Only a proper end ends an answer whose length was not said: under TLS it could be a stranger's.
  if (error == asio::error::eof && exchange->answer.finish())
    return end(exchange, EndKind::complete, {}, at);
  end(exchange, EndKind::cut,
      fmt::format("{} closed the connection {} ({})", exchange->server.text(),
                  exchange->answer.begun() ? "inside its answer" : "without an answer",
                  error.message()),
      at);
}

void Client::Loop::refuse(const Shared& exchange, std::string reason) {
  end(exchange, EndKind::refused, std::move(reason), steady_clock::now());
}

void Client::Loop::end(const Shared& exchange, EndKind kind, std::string reason, TimePoint at) {
  PACELINE_ASSERT(!exchange->ended);
  exchange->ended = true;
  exchange->alarm.cancel();
  if (exchange->connection) exchange->connection->close();
  arrivals_.push_back({exchange->id, at, End{kind, std::move(reason)}});
  active_.erase(exchange->id);
}

void Client::Loop::wait_for(const Shared& exchange, Phase phase, TimePoint from) {
  exchange->phase = phase;
  exchange->deadline = from + limit_of(phase, options_.timeouts);
  if (exchange->deadline < exchange->alarm_at) set_alarm(exchange);
}

void Client::Loop::set_alarm(const Shared& exchange) {
  exchange->alarm_at = exchange->deadline;
  exchange->alarm.expires_at(exchange->deadline);
  exchange->alarm.async_wait([this, exchange](const ErrorCode& error) {
    if (!error && !exchange->ended) time_out(exchange);
  });
}

void Client::Loop::time_out(const Shared& exchange) {
  const auto now = steady_clock::now();
  if (now < exchange->deadline) return set_alarm(exchange);
  end(exchange, EndKind::timed_out, late(*exchange, limit_of(exchange->phase, options_.timeouts)),
      now);
}

void Client::Loop::cancel(ExchangeId id) {
  const auto found = active_.find(id);
  if (found == active_.end()) return;
  const Shared exchange = found->second;
  end(exchange, EndKind::cancelled, "Cancelled", steady_clock::now());
}

}  // namespace paceline::net
