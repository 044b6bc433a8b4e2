#include "net/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <set>
#include <utility>

namespace paceline::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr std::size_t largest_request = std::size_t{64} << 20;

std::string head_text(int status, const Headers& headers) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\n", status,
      std::string_view(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)))));
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  return text;
}

}  // namespace

class Served;

class Server::Loop {
 public:
  Loop() : acceptor(context), stopper(context) {}

  void accept();

  asio::io_context context{1};
  tcp::acceptor acceptor;
  asio::posix::stream_descriptor stopper;
  Handler handler;
  std::set<std::shared_ptr<Served>> connections;
};

/// One client. It reads a request, hands itself out as the reply, and reads the next one once
/// the answer has ended.
class Served : public Reply, public std::enable_shared_from_this<Served> {
 public:
  Served(tcp::socket socket, const Server::Handler& handler, std::set<std::shared_ptr<Served>>& all)
      : socket_(std::move(socket)), handler_(handler), all_(all) {
    Code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
  }

  void read() {
    parser_.emplace();
    parser_->body_limit(largest_request);
    http::async_read(socket_, buffer_, *parser_,
                     [self = shared_from_this()](Code error, std::size_t) {
                       if (error) return self->close();
                       self->handle();
                     });
  }

  void answer(Response response) override {
    response.headers.emplace_back("Content-Length", std::to_string(response.body.size()));
    send(head_text(response.status, response.headers) + connection_header() + response.body);
    finish();
  }

  void begin(int status, const Headers& headers) override {
    send(head_text(status, headers) + "Transfer-Encoding: chunked\r\n" + connection_header());
  }

  void write(std::string_view bytes) override {
    if (bytes.empty()) return;
    send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
  }

  void end() override {
    send("0\r\n\r\n");
    finish();
  }

  void cut() override {
    keep_alive_ = false;
    finish();
  }

  void when_drained(std::function<void()> then) override {
    if (!open_) return;
    drained_ = std::move(then);
    if (!writing_) post_drained();
  }

  void on_gone(std::function<void()> then) override {
    if (open_ && answering_) gone_ = std::move(then);
  }

  void close() {
    const auto gone = std::exchange(gone_, nullptr);
    if (!abandon()) return;
    all_.erase(shared_from_this());
    if (gone) gone();
  }

  /// Closes and tells nobody; what the callbacks held is let go. False: it was closed before.
  bool abandon() {
    if (!std::exchange(open_, false)) return false;
    Code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
    drained_ = nullptr;
    gone_ = nullptr;
    return true;
  }

 private:
  void handle() {
    auto message = parser_->release();
    keep_alive_ = message.keep_alive();
    Request request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    for (const auto& field : message)
      request.headers.emplace_back(field.name_string(), field.value());
    request.body = std::move(message.body());
    answering_ = true;
    ended_ = false;
    watch();
    handler_(std::move(request), shared_from_this());
  }

  /// While an answer is under way nobody reads, so a client that leaves shows only here.
  void watch() {
    if (std::exchange(watching_, true)) return;
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](Code error) {
      self->watching_ = false;
      if (error || !self->open_ || !self->answering_) return;
      char byte = 0;
      const auto got = ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      if (got == 0) self->close();
    });
  }

  std::string connection_header() const {
    return keep_alive_ ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  }

  /// Writes at once what the kernel takes and leaves the rest to the loop.
  void send(std::string bytes) {
    if (!open_ || ended_) return;
    if (writing_) {
      waiting_ += bytes;
      return;
    }
    Code error;
    const std::size_t done = socket_.write_some(asio::buffer(bytes), error);
    if (error && error != asio::error::would_block) return close_later();
    if (done == bytes.size()) return;
    waiting_ = bytes.substr(done);
    write_waiting();
  }

  void write_waiting() {
    writing_ = true;
    going_ = std::exchange(waiting_, {});
    asio::async_write(socket_, asio::buffer(going_),
                      [self = shared_from_this()](Code error, std::size_t) {
                        self->writing_ = false;
                        if (error) return self->close();
                        if (!self->waiting_.empty()) return self->write_waiting();
                        self->after_writing();
                      });
  }

  void after_writing() {
    if (drained_) post_drained();
    if (ended_) next();
  }

  void post_drained() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      if (const auto then = std::exchange(self->drained_, nullptr)) then();
    });
  }

  /// The reply may still be in use further up the stack, so it is not torn down under it.
  void close_later() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
  }

  void finish() {
    if (!open_ || ended_) return;
    ended_ = true;
    if (!writing_) next();
  }

  void next() {
    answering_ = false;
    gone_ = nullptr;
    drained_ = nullptr;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      if (!self->open_) return;
      if (!self->keep_alive_) return self->close();
      self->ended_ = false;
      self->read();
    });
  }

  tcp::socket socket_;
  const Server::Handler& handler_;
  std::set<std::shared_ptr<Served>>& all_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string going_;
  std::string waiting_;
  std::function<void()> drained_;
  std::function<void()> gone_;
  bool open_ = true;
  bool answering_ = false;
  bool ended_ = false;
  bool writing_ = false;
  bool watching_ = false;
  bool keep_alive_ = true;
};

void Server::Loop::accept() {
  acceptor.async_accept([this](Code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      const auto connection = std::make_shared<Served>(std::move(socket), handler, connections);
      connections.insert(connection);
      connection->read();
    }
    accept();
  });
}

Server::Server(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}

Server::~Server() {
  for (const auto& connection : loop_->connections) connection->abandon();
}

util::Result<std::unique_ptr<Server>> Server::listen(std::uint16_t port, const std::string& host) {
  auto loop = std::make_unique<Loop>();
  Code error;
  const auto address = asio::ip::make_address(host, error);
  const tcp::endpoint endpoint(address, port);
  if (!error) loop->acceptor.open(endpoint.protocol(), error);
  if (!error) loop->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) loop->acceptor.bind(endpoint, error);
  if (!error) loop->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return util::fail(util::ErrorKind::usage,
                      fmt::format("cannot listen on {}:{}: {}; choose another --port or 0 for any "
                                  "free one",
                                  host, port, error.message()));
  return std::unique_ptr<Server>(new Server(std::move(loop)));
}

std::uint16_t Server::port() const {
  Code ignored;
  return loop_->acceptor.local_endpoint(ignored).port();
}

void Server::run(Handler handler) {
  loop_->handler = std::move(handler);
  loop_->accept();
  loop_->context.run();
}

void Server::stop() { loop_->context.stop(); }

void Server::stop_when_readable(int descriptor) {
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return;
  loop_->stopper.assign(own);
  loop_->stopper.async_wait(asio::posix::stream_descriptor::wait_read, [this](Code error) {
    if (!error) stop();
  });
}

Timer Server::at(TimePoint when, std::function<void()> then) {
  auto timer = std::make_shared<asio::steady_timer>(loop_->context, when);
  const std::weak_ptr<asio::steady_timer> alive = timer;
  timer->async_wait([alive, then = std::move(then)](Code error) {
    if (!error && !alive.expired()) then();
  });
  return timer;
}

}  // namespace paceline::net
