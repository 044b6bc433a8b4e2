#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/http.hpp"
#include "util/result.hpp"

namespace paceline::net {

/// Answers one request. All calls come from the server's own thread. Once the client is gone
/// everything but on_gone() does nothing.
class Reply {
 public:
  virtual ~Reply() = default;

  /// The whole answer at once.
  virtual void answer(Response response) = 0;

  /// Head of an answer whose length is not known yet; its body goes out in chunks.
  virtual void begin(int status, const Headers& headers) = 0;
  /// One chunk of the body; nothing for an empty one.
  virtual void write(std::string_view bytes) = 0;
  virtual void end() = 0;

  /// Closes the connection where it stands, what was written before goes out first.
  virtual void cut() = 0;

  /// Called once, from the loop, when the kernel has taken everything written so far.
  virtual void when_drained(std::function<void()> then) = 0;
  /// Called once when the client closes before the answer has ended.
  virtual void on_gone(std::function<void()> then) = 0;
};

/// A call that is due later; it does not come once this is destroyed.
using Timer = std::shared_ptr<void>;

/// An HTTP/1.1 server on loopback in one thread, for tests and the mock server.
class Server {
 public:
  using Handler = std::function<void(Request, std::shared_ptr<Reply>)>;

  /// Listens on a port of 127.0.0.1 or, for 0, on any free one; `host` may name another address.
  static util::Result<std::unique_ptr<Server>> listen(std::uint16_t port,
                                                      const std::string& host = "127.0.0.1");
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;

  /// Serves until stop(); every call of `handler` and of timers is made in here.
  void run(Handler handler);
  /// Ends run(); may be called from any thread and from a signal's thread.
  void stop();
  /// Also ends run(): once `descriptor` is readable.
  void stop_when_readable(int descriptor);

  [[nodiscard]] Timer at(TimePoint when, std::function<void()> then);

 private:
  class Loop;
  explicit Server(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace paceline::net
