#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/asio.hpp"
#include "net/client.hpp"
#include "net/connection.hpp"

namespace paceline::net {

/// Connections to servers: idle ones to use again, and what new ones need.
class Pool {
 public:
  using Shared = std::shared_ptr<Connection>;
  using Endpoints = std::vector<tcp::endpoint>;

  Pool(asio::io_context& context, const ClientOptions& options);

  /// One that is idle and looks open, the last used first; null when there is none.
  Shared take(const Url& server);
  void give(const Url& server, Shared connection);
  void close_idle() { idle_.clear(); }

  /// One not yet connected; the error says why TLS cannot be used.
  util::Result<Shared> make(const Url& server);

  /// The addresses of a host. Names are looked up once, in the calling thread, and before anything
  /// is measured: an asynchronous look-up would need a thread of its own.
  util::Result<Endpoints> endpoints(const Url& server);
  /// None of the addresses answered: look them up again the next time.
  void forget(const Url& server);

 private:
  asio::io_context& context_;
  const ClientOptions& options_;
  std::optional<asio::ssl::context> tls_;
  std::map<std::string, std::vector<Shared>> idle_;  // by origin
  std::map<std::string, Endpoints> endpoints_;       // likewise
};

}  // namespace paceline::net
