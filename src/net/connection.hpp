#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/asio.hpp"
#include "net/tls.hpp"

namespace paceline::net {

/// One connection to a server, plain or under TLS.
class Connection {
 public:
  /// `tls`: null for a plain connection.
  Connection(asio::io_context& context, asio::ssl::context* tls) : socket_(context) {
    if (tls != nullptr) secure_.emplace(socket_, *tls);
  }

  tcp::socket& socket() { return socket_; }
  TlsStream* secure() { return secure_ ? &*secure_ : nullptr; }

  /// Reads what is there into the connection's own space; `handler(error, bytes)`.
  template <class Handler>
  void read(Handler handler) {
    const auto space = asio::buffer(space_);
    if (secure_)
      secure_->async_read_some(space, std::move(handler));
    else
      socket_.async_read_some(space, std::move(handler));
  }
  /// What the last read of so many bytes brought; valid until the next.
  std::string_view last_read(std::size_t bytes) const { return {space_.data(), bytes}; }

  /// Writes all of `text`, which the caller keeps alive.
  template <class Handler>
  void write(const std::string& text, Handler handler) {
    if (secure_)
      asio::async_write(*secure_, asio::buffer(text), std::move(handler));
    else
      asio::async_write(socket_, asio::buffer(text), std::move(handler));
  }

  /// Whether an idle connection looks as if the server had not closed it. It may have, all the
  /// same: its goodbye can be on the way.
  bool looks_open();
  void close();

 private:
  tcp::socket socket_;
  std::optional<TlsStream> secure_;
  std::array<char, 16 * 1024> space_;  // as large as a TLS record; untouched pages cost nothing
};

}  // namespace paceline::net
