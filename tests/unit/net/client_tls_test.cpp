#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "net/client.hpp"
#include "support/certificates.hpp"
#include "support/exchanges.hpp"
#include "support/socket_server.hpp"
#include "support/temporary_folder.hpp"

namespace paceline::net {
namespace {

using support::Certificate;
using support::Exchanged;
using support::make_authority;
using support::make_certificate;
using support::Peer;
using support::run_one;
using support::SocketServer;

constexpr std::string_view hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

class ClientTls : public testing::Test {
 protected:
  std::string file_of(const Certificate& certificate) {
    const auto path = folder_.path() / ("ca-" + std::to_string(++files_) + ".pem");
    std::ofstream(path) << certificate.certificate;
    return path.string();
  }

  /// What comes of asking at `host` a server with this certificate.
  static Exchanged ask(const std::string& host, const Certificate& identity,
                       ClientOptions options) {
    SocketServer server(
        [](SocketServer::Listener& listener) {
          Peer peer = listener.accept();
          if (peer.read_request().empty()) return;
          peer.send(hello);
          peer.wait_for_close();
        },
        identity);
    Client client(std::move(options));
    return run_one(client, {true, host, server.port(), ""});
  }

  static ClientOptions trusting(const std::string& ca_file) {
    ClientOptions options;
    options.ca_file = ca_file;
    return options;
  }
  static ClientOptions insecure() {
    ClientOptions options;
    options.insecure = true;
    return options;
  }

  support::TemporaryFolder folder_;
  int files_ = 0;
  Certificate authority_ = make_authority("a test's authority");
};

TEST_F(ClientTls, trusts_a_server_that_its_authority_vouches_for_by_name_and_by_address) {
  const ClientOptions options = trusting(file_of(authority_));
  const Exchanged named = ask("localhost", make_certificate("localhost", authority_), options);
  EXPECT_EQ(named.end, EndKind::complete) << named.reason;
  EXPECT_EQ(named.body, "hello");
  const Exchanged address = ask("127.0.0.1", make_certificate("127.0.0.1", authority_), options);
  EXPECT_EQ(address.end, EndKind::complete) << address.reason;
}

TEST_F(ClientTls, refuses_a_server_of_an_unknown_authority_with_the_reason) {
  const Certificate other = make_authority("a stranger");
  const Certificate identity = make_certificate("localhost", other);
  for (const auto& options : {trusting(file_of(authority_)), ClientOptions{}}) {
    const Exchanged exchanged = ask("localhost", identity, options);
    EXPECT_EQ(exchanged.end, EndKind::refused);
    EXPECT_EQ(exchanged.ends, 1);
    EXPECT_NE(exchanged.reason.find("unable to get local issuer certificate"), std::string::npos)
        << exchanged.reason;
  }
}

TEST_F(ClientTls, refuses_a_server_that_has_the_certificate_of_another_host) {
  const ClientOptions options = trusting(file_of(authority_));
  const Exchanged name = ask("localhost", make_certificate("example.org", authority_), options);
  EXPECT_EQ(name.end, EndKind::refused);
  EXPECT_NE(name.reason.find("hostname mismatch"), std::string::npos) << name.reason;
  const Exchanged address = ask("127.0.0.1", make_certificate("localhost", authority_), options);
  EXPECT_EQ(address.end, EndKind::refused);
  EXPECT_NE(address.reason.find("IP address mismatch"), std::string::npos) << address.reason;
}

TEST_F(ClientTls, accepts_any_certificate_when_told_that_it_may_be_insecure) {
  const Certificate stranger = make_certificate("example.org", make_authority("a stranger"));
  EXPECT_EQ(ask("localhost", stranger, insecure()).end, EndKind::complete);
}

TEST_F(ClientTls, refuses_everything_when_its_authorities_cannot_be_read) {
  const Exchanged exchanged =
      ask("localhost", make_certificate("localhost", authority_), trusting("/no/such.pem"));
  EXPECT_EQ(exchanged.end, EndKind::refused);
  EXPECT_NE(exchanged.reason.find("/no/such.pem"), std::string::npos) << exchanged.reason;
}

TEST_F(ClientTls, refuses_a_server_that_speaks_plain_http) {
  SocketServer server([](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    peer.wait_for_close();
  });
  Client client(insecure());
  EXPECT_EQ(run_one(client, {true, "127.0.0.1", server.port(), ""}).end, EndKind::refused);
}

TEST_F(ClientTls, uses_a_connection_again) {
  SocketServer server(
      [](SocketServer::Listener& listener) {
        Peer peer = listener.accept();
        while (!peer.read_request().empty()) peer.send(hello);
      },
      make_certificate("127.0.0.1", authority_));
  Client client(trusting(file_of(authority_)));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run_one(client, {true, "127.0.0.1", server.port(), ""}).body, "hello");
}

// Anyone can end a connection, only the server can say that it ends: without that word, a body
// of no said length is not known to be whole.
TEST_F(ClientTls, takes_a_body_to_the_end_only_when_the_server_said_the_end) {
  for (const bool rudely : {false, true}) {
    SocketServer server(
        [&](SocketServer::Listener& listener) {
          Peer peer = listener.accept();
          peer.read_request();
          peer.send("HTTP/1.1 200 OK\r\n\r\ndata: x\n\n");
          if (rudely)
            peer.close_rudely();
          else
            peer.close();
        },
        make_certificate("127.0.0.1", authority_));
    Client client(insecure());
    const Exchanged exchanged = run_one(client, {true, "127.0.0.1", server.port(), ""});
    EXPECT_EQ(exchanged.end, rudely ? EndKind::cut : EndKind::complete) << exchanged.reason;
    EXPECT_EQ(exchanged.body, "data: x\n\n");
  }
}

TEST_F(ClientTls, C136_gives_the_same_body_though_its_bytes_come_one_by_one) {
  SocketServer server(
      [](SocketServer::Listener& listener) {
        Peer peer = listener.accept();
        peer.read_request();
        constexpr std::string_view answer =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
            "chunked\r\n\r\n4\r\n\xF0\x9F\x98\x80\r\n0\r\n\r\n";
        for (const char& byte : answer) peer.send({&byte, 1});
        peer.wait_for_close();
      },
      make_certificate("127.0.0.1", authority_));
  Client client(insecure());
  const Exchanged exchanged = run_one(client, {true, "127.0.0.1", server.port(), ""});
  EXPECT_EQ(exchanged.end, EndKind::complete);
  EXPECT_EQ(exchanged.body, "\xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace paceline::net
