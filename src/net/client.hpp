#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "net/http.hpp"
#include "net/url.hpp"
#include "util/result.hpp"

namespace paceline::net {

using ExchangeId = std::uint32_t;

struct Timeouts {
  std::chrono::milliseconds connect{10'000};      ///< name, connection and TLS
  std::chrono::milliseconds first_byte{600'000};  ///< from sending to the answer's first byte
  std::chrono::milliseconds idle{600'000};        ///< between two reads of an answer
};

struct ClientOptions {
  Timeouts timeouts;
  std::string ca_file;                              ///< PEM; empty: the system's
  bool insecure = false;                            ///< certificates are not verified
  std::size_t largest_body = std::size_t{1} << 30;  ///< bytes of one answer
};

/// Status line and headers arrived.
struct Head {
  int status = 0;
  Headers headers;
};
/// Bytes of the body, unchunked, as one read gave them.
struct Body {
  std::string bytes;
};
enum class EndKind {
  complete,   ///< the answer is whole
  refused,    ///< no connection, no valid certificate, or a request that cannot be sent
  timed_out,  ///< one of the Timeouts; `reason` says which
  cut,        ///< the connection ended inside the answer
  malformed,  ///< what came is not HTTP, or more of it than is taken
  cancelled,  ///< by cancel()
};
/// The last thing of every exchange, always said.
struct End {
  EndKind kind = EndKind::complete;
  std::string reason;  ///< one sentence; empty when complete
};

struct Arrival {
  ExchangeId exchange = 0;
  TimePoint at;  ///< taken when the read that brought it completed
  std::variant<Head, Body, End> what;
};

/// How well this client kept up, since it was made; its lag since restart_lag().
struct ClientLoad {
  double cpu_s = 0;   ///< CPU seconds of the calling thread, what the caller does included
  double wall_s = 0;  ///< cpu_s over wall_s is how busy the thread was
  long arrivals = 0;
  /// Seconds that a timer of 5 ms, which runs while there are exchanges, fired late: what an event
  /// waits for this client, be it in next() or because the caller was busy between two calls.
  /// Percentiles are known within 2.2 %, from 1 microsecond to 68 seconds.
  std::optional<double> lag_p50_s;
  std::optional<double> lag_p99_s;
  std::optional<double> lag_max_s;
};

/// HTTP/1.1 over TCP or TLS, thousands of exchanges in one thread: nothing happens outside
/// next(), fetch() and start(). Connections are kept alive and used again; one that the server had
/// closed meanwhile is replaced once, where nothing of the answer had come.
class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Begins an exchange; what comes of it is said by next(). The request's target is put behind
  /// the URL's prefix.
  ExchangeId start(const Url& server, Request request);

  /// Waits for the next arrival of any exchange until `until`; nothing on a time-out, or at once
  /// when the user asked to stop (util::interrupt_descriptor()).
  std::optional<Arrival> next(TimePoint until);

  /// The exchange ends as cancelled, its connection is closed.
  void cancel(ExchangeId exchange);

  /// One whole exchange, within `patience`; of no use while others run. An answer of any status
  /// is a value; the error says which end it came to.
  util::Result<Response> fetch(const Url& server, Request request,
                               std::chrono::milliseconds patience);

  /// Closes idle connections, so that none outlives a server that is ended.
  void close_idle();

  ClientLoad load() const;

  /// The lag of load() counts anew from here.
  void restart_lag();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace paceline::net
