#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "net/client.hpp"
#include "support/exchanges.hpp"
#include "support/socket_server.hpp"

namespace paceline::net {
namespace {

using support::at_port;
using support::Exchanged;
using support::Peer;
using support::run_one;
using support::SocketServer;

/// What comes of a request that a server answers with `bytes` and an end of the connection.
Exchanged answered_with(std::string_view bytes, ClientOptions options = {}) {
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send(bytes);
  });
  Client client(options);
  return run_one(client, at_port(server.port()));
}

/// What comes of one whom a server keeps waiting behind `bytes`.
Exchanged kept_waiting_behind(std::string_view bytes, Timeouts timeouts) {
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send(bytes);
    peer.wait_for_close();
  });
  ClientOptions options;
  options.timeouts = timeouts;
  Client client(options);
  return run_one(client, at_port(server.port()));
}

/// A port at which nobody listens, and nobody can while this is held.
class TakenPort {
 public:
  TakenPort() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(descriptor_, plain, size), 0);
    EXPECT_EQ(::getsockname(descriptor_, plain, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~TakenPort() { ::close(descriptor_); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

TEST(ClientFaults, nobody_listening_is_refused_with_the_place) {
  const TakenPort taken;
  Client client({});
  const Exchanged exchanged = run_one(client, at_port(taken.port()));
  EXPECT_EQ(exchanged.end, EndKind::refused);
  EXPECT_EQ(exchanged.ends, 1);
  EXPECT_NE(exchanged.reason.find("http://127.0.0.1:" + std::to_string(taken.port())),
            std::string::npos)
      << exchanged.reason;
}

// A label of 64 letters is no name (RFC 1035), so that no server of names is asked.
TEST(ClientFaults, a_host_that_is_not_known_is_refused_with_its_name) {
  Client client({});
  const std::string host(64, 'x');
  const Exchanged exchanged = run_one(client, {false, host, 80, ""});
  EXPECT_EQ(exchanged.end, EndKind::refused);
  EXPECT_NE(exchanged.reason.find(host), std::string::npos) << exchanged.reason;
}

TEST(ClientFaults, a_request_that_cannot_be_sent_is_refused_without_a_connection) {
  Client client({});
  const Exchanged exchanged =
      run_one(client, at_port(1), {"GET", "/", {{"Authorization", "Bearer s3cret\n"}}, ""});
  EXPECT_EQ(exchanged.end, EndKind::refused);
  EXPECT_EQ(exchanged.reason.find("s3cret"), std::string::npos) << exchanged.reason;
}

TEST(ClientFaults, an_end_inside_the_answer_is_a_cut_wherever_it_comes) {
  constexpr std::string_view chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n";
  constexpr std::string_view sized = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ndata: x\n";
  for (const auto bytes : {chunked, chunked.substr(0, chunked.size() - 6), sized,
                           sized.substr(0, 20), std::string_view()}) {
    const Exchanged exchanged = answered_with(bytes);
    EXPECT_EQ(exchanged.end, EndKind::cut) << bytes;
    EXPECT_EQ(exchanged.ends, 1);
    EXPECT_NE(exchanged.reason, "");
  }
  EXPECT_EQ(answered_with(chunked).body, "data: x\n\n");
}

TEST(ClientFaults, a_reset_inside_the_answer_is_a_cut) {
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\n\r\ndata: x\n\n");
    peer.reset();
  });
  Client client({});
  EXPECT_EQ(run_one(client, at_port(server.port())).end, EndKind::cut);
}

TEST(ClientFaults, what_is_not_http_is_malformed) {
  const std::string_view garbage[] = {
      "SSH-2.0-OpenSSH_9.2p1\r\n", "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n", "\x15\x03\x03\x02",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"};
  for (const auto bytes : garbage) {
    const Exchanged exchanged = answered_with(bytes);
    EXPECT_EQ(exchanged.end, EndKind::malformed) << bytes;
    EXPECT_NE(exchanged.reason, "");
  }
}

TEST(ClientFaults, an_answer_longer_than_allowed_is_given_up) {
  ClientOptions options;
  options.largest_body = 10;
  EXPECT_EQ(answered_with("HTTP/1.1 200 OK\r\n\r\n0123456789", options).end, EndKind::complete);
  const Exchanged exchanged = answered_with("HTTP/1.1 200 OK\r\n\r\n0123456789a", options);
  EXPECT_EQ(exchanged.end, EndKind::malformed);
  EXPECT_NE(exchanged.reason.find("10 bytes"), std::string::npos) << exchanged.reason;
}

constexpr std::chrono::milliseconds soon{50};
constexpr std::chrono::milliseconds never{600'000};

TEST(ClientFaults, no_answer_times_out_and_says_so) {
  const Exchanged exchanged = kept_waiting_behind("", {never, soon, never});
  EXPECT_EQ(exchanged.end, EndKind::timed_out);
  EXPECT_EQ(exchanged.ends, 1);
  EXPECT_NE(exchanged.reason.find("No answer"), std::string::npos) << exchanged.reason;
}

TEST(ClientFaults, an_answer_that_stops_times_out_with_what_came) {
  const Exchanged exchanged =
      kept_waiting_behind("HTTP/1.1 200 OK\r\n\r\ndata: x\n\n", {never, never, soon});
  EXPECT_EQ(exchanged.end, EndKind::timed_out);
  EXPECT_EQ(exchanged.body, "data: x\n\n");
  EXPECT_NE(exchanged.reason.find("Nothing more"), std::string::npos) << exchanged.reason;
}

TEST(ClientFaults, a_handshake_that_never_comes_times_out_as_no_connection) {
  SocketServer server([](SocketServer::Listener& listener) { listener.accept().wait_for_close(); });
  ClientOptions options;
  options.timeouts = {soon, never, never};
  options.insecure = true;
  Client client(options);
  const Exchanged exchanged = run_one(client, at_port(server.port(), true));
  EXPECT_EQ(exchanged.end, EndKind::timed_out);
  EXPECT_NE(exchanged.reason.find("No connection"), std::string::npos) << exchanged.reason;
}

// The alarm of the connection rings while the answer has time left, and has to be set again.
TEST(ClientFaults, a_later_limit_holds_though_an_earlier_one_has_rung) {
  const Exchanged exchanged = kept_waiting_behind("", {soon, soon * 2, never});
  EXPECT_EQ(exchanged.end, EndKind::timed_out);
  EXPECT_EQ(exchanged.ends, 1);
}

TEST(ClientFaults, fetch_says_what_was_asked_and_what_came_of_it) {
  const TakenPort taken;
  Client client({});
  const auto refused =
      client.fetch(at_port(taken.port()), {"GET", "/props", {}, ""}, std::chrono::seconds(30));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("/props"), std::string::npos) << refused.error().message;
  EXPECT_EQ(refused.error().kind, util::ErrorKind::engine);
}

TEST(ClientFaults, fetch_gives_up_in_time_and_leaves_nothing_behind) {
  SocketServer server([](SocketServer::Listener& listener) { listener.accept().wait_for_close(); });
  Client client({});
  const auto late =
      client.fetch(at_port(server.port()), {"GET", "/", {{"Authorization", "s3cret"}}, ""},
                   std::chrono::milliseconds(50));
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("50 ms"), std::string::npos) << late.error().message;
  EXPECT_EQ(late.error().message.find("s3cret"), std::string::npos);
  EXPECT_EQ(client.next(std::chrono::steady_clock::now()), std::nullopt);
}

TEST(ClientFaults, that_take_time_show_how_late_the_loop_was) {
  ClientOptions options;
  options.timeouts = {never, soon, never};
  SocketServer server([](SocketServer::Listener& listener) { listener.accept().wait_for_close(); });
  Client client(options);
  EXPECT_EQ(client.load().lag_p99_s, std::nullopt);
  run_one(client, at_port(server.port()));
  const ClientLoad load = client.load();
  ASSERT_TRUE(load.lag_p50_s && load.lag_p99_s && load.lag_max_s);
  EXPECT_LE(*load.lag_p50_s, *load.lag_p99_s);
  EXPECT_LE(*load.lag_p99_s, *load.lag_max_s);
  EXPECT_GT(load.wall_s, 0);
}

}  // namespace
}  // namespace paceline::net
