#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/asio.hpp"
#include "net/client.hpp"
#include "net/exchange.hpp"
#include "net/lag.hpp"
#include "net/pool.hpp"

namespace paceline::net {

/// The event loop behind a Client. What happens goes into a queue of arrivals; handlers keep their
/// exchange alive, and do nothing once it has ended.
class Client::Loop {
 public:
  explicit Loop(ClientOptions options);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  ExchangeId start(const Url& server, const Request& request);
  std::optional<Arrival> next(TimePoint until);
  void cancel(ExchangeId id);
  void close_idle() { pool_.close_idle(); }
  ClientLoad load() const;
  void restart_lag() { lag_ = LagHistogram(); }

  /// Puts arrivals of other exchanges, taken meanwhile, back in front; drops what is left of `id`.
  void give_back(std::deque<Arrival> others, ExchangeId id);

 private:
  using Shared = std::shared_ptr<Exchange>;

  // The way of an exchange: exchange.cpp.
  void begin(const Shared& exchange);
  void connect(const Shared& exchange);
  void connected(const Shared& exchange, const ErrorCode& error);
  void shake_hands(const Shared& exchange);
  void send(const Shared& exchange);
  void read(const Shared& exchange);
  void on_read(const Shared& exchange, const ErrorCode& error, std::size_t bytes);
  void on_bytes(const Shared& exchange, std::string_view bytes, TimePoint at);
  void on_closed(const Shared& exchange, const ErrorCode& error, TimePoint at);
  void refuse(const Shared& exchange, std::string reason);
  void end(const Shared& exchange, EndKind kind, std::string reason, TimePoint at);
  void wait_for(const Shared& exchange, Phase phase, TimePoint from);
  void set_alarm(const Shared& exchange);
  void time_out(const Shared& exchange);

  // The loop itself: loop.cpp.
  void run_until(TimePoint until);
  void wake_at(TimePoint until);
  void watch_interrupts();
  void watch_lag();

  ClientOptions options_;
  asio::io_context context_;  // outlives all that hangs on it: handlers hold sockets
  Pool pool_;
  std::deque<Arrival> arrivals_;
  std::unordered_map<ExchangeId, Shared> active_;
  ExchangeId last_id_ = 0;

  asio::steady_timer wake_;
  TimePoint wake_time_ = TimePoint::max();  // of the timer; max: not set
  asio::posix::stream_descriptor interrupt_;
  bool interrupted_ = false;

  asio::steady_timer lag_timer_;
  bool lag_watched_ = false;
  LagHistogram lag_;

  TimePoint made_;
  double cpu_before_s_;  // of the thread, when this was made
  long arrived_ = 0;
};

}  // namespace paceline::net
