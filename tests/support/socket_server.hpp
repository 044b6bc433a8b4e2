#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "support/certificates.hpp"

namespace paceline::support {

/// One accepted connection of a SocketServer. Whatever fails (the client is gone) ends it: reads
/// then give nothing.
class Peer {
 public:
  struct State;
  explicit Peer(std::unique_ptr<State> state);
  ~Peer();
  Peer(Peer&&) noexcept;
  Peer& operator=(Peer&&) noexcept;

  /// A whole request, head and body; empty when the client closed before.
  std::string read_request();
  void send(std::string_view bytes);
  /// Ends the connection in order.
  void close();
  /// Under TLS, without saying goodbye, as one who cuts the line would.
  void close_rudely();
  /// With a reset instead of an end.
  void reset();
  /// Until the client closes: so that a fault lasts as long as the client cares.
  void wait_for_close();

 private:
  std::unique_ptr<State> state_;
};

/// A server on loopback that sends exactly the bytes a test asks for. `script` runs in a thread.
class SocketServer {
 public:
  class Listener {
   public:
    Listener(int descriptor, const std::optional<Certificate>& identity)
        : descriptor_(descriptor), identity_(identity) {}
    /// The next connection, under TLS where the server has a certificate.
    Peer accept();

   private:
    int descriptor_;
    const std::optional<Certificate>& identity_;
  };
  using Script = std::function<void(Listener&)>;

  explicit SocketServer(Script script, std::optional<Certificate> identity = {});
  ~SocketServer();
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// Accepts no more and waits until the script has ended, so that what it wrote down can be read.
  void finish();

 private:
  int descriptor_ = -1;
  std::uint16_t port_ = 0;
  std::optional<Certificate> identity_;
  std::thread thread_;
};

}  // namespace paceline::support
