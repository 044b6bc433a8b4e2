#include "net/client.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <future>
#include <string>
#include <vector>

#include "net/sse.hpp"
#include "support/exchanges.hpp"
#include "support/socket_server.hpp"
#include "util/interrupt.hpp"

namespace paceline::net {
namespace {

using support::at_port;
using support::Exchanged;
using support::patience;
using support::Peer;
using support::run_one;
using support::run_to_end;
using support::SocketServer;

constexpr std::string_view hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
constexpr std::string_view stream_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk(std::string_view data) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::size_t size = data.size();
  return std::string{digits[size / 16 % 16], digits[size % 16]} + "\r\n" + std::string(data) +
         "\r\n";
}

/// Answers every request of one connection with "hello" until the client closes it.
void say_hello(Peer peer) {
  while (!peer.read_request().empty()) peer.send(hello);
}

TEST(Client, fetches_a_whole_answer) {
  std::string asked;
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    asked = peer.read_request();
    peer.send("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nbusy");
    peer.wait_for_close();
  });
  {
    Client client({});
    Url url = at_port(server.port());
    url.prefix = "/prefix";
    const auto answer =
        client.fetch(url, {"POST", "/x", {{"A", "b"}}, "{}"}, std::chrono::seconds(30));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 503);
    EXPECT_EQ(header(answer->headers, "retry-after"), "1");
    EXPECT_EQ(answer->body, "busy");
  }
  server.finish();
  EXPECT_TRUE(asked.starts_with("POST /prefix/x HTTP/1.1\r\n")) << asked;
  EXPECT_TRUE(asked.ends_with("\r\n\r\n{}")) << asked;
}

// Case C137: a first chunk with the role alone must not be taken for the first token, so each chunk
// needs the moment of its own read. The server waits between the two until the first was seen.
TEST(Client, C137_gives_each_chunk_when_it_came_with_the_moment_of_its_read) {
  std::promise<void> role_seen;
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send(std::string(stream_head) + chunk("data: role\n\n"));
    role_seen.get_future().wait();
    peer.send(chunk("data: content\n\n") + "0\r\n\r\n");
    peer.wait_for_close();
  });
  Client client({});
  const auto before = std::chrono::steady_clock::now();
  client.start(at_port(server.port()), {});
  Exchanged first;
  while (first.body.empty()) {
    auto arrival = client.next(patience());
    if (!arrival) break;
    support::take(std::move(*arrival), first);
  }
  EXPECT_EQ(first.body, "data: role\n\n");
  const auto between = std::chrono::steady_clock::now();
  role_seen.set_value();
  const Exchanged second = run_to_end(client, 1).begin()->second;
  EXPECT_EQ(second.body, "data: content\n\n");
  EXPECT_EQ(second.end, EndKind::complete);
  ASSERT_FALSE(first.times.empty());
  EXPECT_LE(before, first.times.front());
  EXPECT_LE(first.times.back(), between);
  EXPECT_LE(between, second.times.front());
}

TEST(Client, C136_gives_one_event_though_its_bytes_come_one_by_one) {
  SocketServer server([](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send(stream_head);
    const std::string body = chunk("data: \xE2\x82\xAC\r\n") + chunk("\r\n") + "0\r\n\r\n";
    for (const char& byte : body) peer.send({&byte, 1});
    peer.wait_for_close();
  });
  Client client({});
  const Exchanged exchanged = run_one(client, at_port(server.port()));
  EXPECT_EQ(exchanged.end, EndKind::complete);
  SseParser parser;
  std::vector<SseEvent> events;
  parser.feed(exchanged.body, events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].data, "\xE2\x82\xAC");
}

TEST(Client, takes_a_body_to_the_end_of_the_connection_when_no_length_was_said) {
  SocketServer server([](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\n\r\ndata: x\n\n");
  });
  Client client({});
  const Exchanged exchanged = run_one(client, at_port(server.port()));
  EXPECT_EQ(exchanged.end, EndKind::complete);
  EXPECT_EQ(exchanged.reason, "");
  EXPECT_EQ(exchanged.body, "data: x\n\n");
}

TEST(Client, does_not_follow_to_another_place) {
  SocketServer server([](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
  });
  Client client({});
  EXPECT_EQ(run_one(client, at_port(server.port())).status, 302);
}

TEST(Client, sends_a_body_larger_than_any_buffer) {
  const std::string body(8'000'000, 'x');
  std::size_t received = 0;
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    const std::string request = peer.read_request();
    received = request.size() - request.find("\r\n\r\n") - 4;
    peer.send(hello);
    peer.wait_for_close();
  });
  {
    Client client({});
    EXPECT_EQ(run_one(client, at_port(server.port()), {"POST", "/", {}, body}).body, "hello");
  }
  server.finish();
  EXPECT_EQ(received, body.size());
}

TEST(Client, uses_a_connection_again) {
  SocketServer server([](SocketServer::Listener& listener) { say_hello(listener.accept()); });
  Client client({});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run_one(client, at_port(server.port())).body, "hello");
}

TEST(Client, does_not_use_a_connection_again_that_the_server_said_it_will_close) {
  SocketServer server([](SocketServer::Listener& listener) {
    Peer first = listener.accept();
    first.read_request();
    first.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
    say_hello(listener.accept());
  });
  Client client({});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run_one(client, at_port(server.port())).body, "hello");
}

// Some servers say so before they close an idle connection; it answers no request.
TEST(Client, does_not_take_what_a_server_said_to_nobody_for_its_answer) {
  std::promise<void> answered;
  std::promise<void> said;
  SocketServer server([&](SocketServer::Listener& listener) {
    {
      Peer peer = listener.accept();
      peer.read_request();
      peer.send(hello);
      answered.get_future().wait();
      peer.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    }
    said.set_value();
    say_hello(listener.accept());
  });
  Client client({});
  EXPECT_EQ(run_one(client, at_port(server.port())).status, 200);
  answered.set_value();
  said.get_future().wait();
  EXPECT_EQ(run_one(client, at_port(server.port())).status, 200);
}

TEST(Client, closes_idle_connections_when_told) {
  std::promise<void> closed;
  SocketServer server([&](SocketServer::Listener& listener) {
    say_hello(listener.accept());
    closed.set_value();
  });
  Client client({});
  EXPECT_EQ(run_one(client, at_port(server.port())).body, "hello");
  client.close_idle();
  EXPECT_EQ(closed.get_future().wait_until(patience()), std::future_status::ready);
}

TEST(Client, opens_a_new_connection_when_the_server_closed_the_idle_one) {
  SocketServer server([](SocketServer::Listener& listener) {
    {
      Peer peer = listener.accept();
      peer.read_request();
      peer.send(hello);
    }
    say_hello(listener.accept());
  });
  Client client({});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run_one(client, at_port(server.port())).body, "hello");
}

// The server closes at the very moment at which the next request comes, as it does when the
// time it keeps idle connections is over.
TEST(Client, replaces_a_used_connection_that_gives_no_byte_of_an_answer_and_says_nothing_of_it) {
  std::string repeated;
  SocketServer server([&](SocketServer::Listener& listener) {
    {
      Peer peer = listener.accept();
      peer.read_request();
      peer.send(hello);
      peer.read_request();
    }
    Peer peer = listener.accept();
    repeated = peer.read_request();
    peer.send(hello);
    peer.wait_for_close();
  });
  {
    Client client({});
    run_one(client, at_port(server.port()));
    const Exchanged second = run_one(client, at_port(server.port()), {"POST", "/again", {}, "{}"});
    EXPECT_EQ(second.end, EndKind::complete) << second.reason;
    EXPECT_EQ(second.body, "hello");
    EXPECT_EQ(second.heads, 1);
  }
  server.finish();
  EXPECT_TRUE(repeated.starts_with("POST /again ")) << repeated;
  EXPECT_TRUE(repeated.ends_with("\r\n\r\n{}")) << repeated;
}

TEST(Client, replaces_a_connection_once_and_not_for_ever) {
  int requests = 0;
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send(hello);
    for (int i = 0; i < 2; ++i) {
      if (peer.read_request().empty()) return;
      ++requests;
      peer.close();
      if (i == 0) peer = listener.accept();
    }
  });
  {
    Client client({});
    run_one(client, at_port(server.port()));
    EXPECT_EQ(run_one(client, at_port(server.port())).end, EndKind::cut);
  }
  server.finish();
  EXPECT_EQ(requests, 2);
}

TEST(Client, keeps_two_hundred_streams_apart_in_one_thread) {
  constexpr std::size_t streams = 200;
  SocketServer server([](SocketServer::Listener& listener) {
    std::vector<Peer> peers;
    for (std::size_t i = 0; i < streams; ++i) {
      peers.push_back(listener.accept());
      const std::string request = peers.back().read_request();
      const std::string target = request.substr(4, request.find(' ', 4) - 4);
      peers.back().send(std::string(stream_head) + chunk(target));
    }
    for (int round = 0; round < 5; ++round)
      for (auto& peer : peers) peer.send(chunk("+"));
    for (auto& peer : peers) peer.send("0\r\n\r\n");
    for (auto& peer : peers) peer.wait_for_close();
  });
  Client client({});
  std::vector<ExchangeId> ids;
  for (std::size_t i = 0; i < streams; ++i)
    ids.push_back(client.start(at_port(server.port()), {"GET", "/" + std::to_string(i), {}, ""}));
  auto all = run_to_end(client, streams);
  client.close_idle();
  ASSERT_EQ(all.size(), streams);
  for (std::size_t i = 0; i < streams; ++i) {
    EXPECT_EQ(all[ids[i]].body, "/" + std::to_string(i) + "+++++");
    EXPECT_EQ(all[ids[i]].end, EndKind::complete);
    EXPECT_EQ(all[ids[i]].ends, 1);
  }
  EXPECT_GE(client.load().arrivals, static_cast<long>(3 * streams));  // head, body and end
  EXPECT_GT(client.load().cpu_s, 0);
}

TEST(Client, ends_an_exchange_that_is_cancelled_once_and_closes_its_connection) {
  std::promise<void> closed;
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.read_request();
    peer.send(std::string(stream_head) + chunk("data: x\n\n"));
    peer.wait_for_close();
    closed.set_value();
  });
  Client client({});
  const ExchangeId id = client.start(at_port(server.port()), {});
  Exchanged exchanged;
  while (exchanged.body.empty()) {
    auto arrival = client.next(patience());
    ASSERT_TRUE(arrival);
    support::take(std::move(*arrival), exchanged);
  }
  client.cancel(id);
  client.cancel(id);
  client.cancel(id + 1);
  const Exchanged rest = run_to_end(client, 1)[id];
  EXPECT_EQ(rest.end, EndKind::cancelled);
  EXPECT_NE(rest.reason, "");
  EXPECT_EQ(client.next(std::chrono::steady_clock::now()), std::nullopt);
  EXPECT_EQ(closed.get_future().wait_until(patience()), std::future_status::ready);
}

TEST(Client, can_be_cancelled_before_anything_happened) {
  SocketServer server([](SocketServer::Listener& listener) { listener.accept().wait_for_close(); });
  Client client({});
  const ExchangeId id = client.start(at_port(server.port()), {});
  client.cancel(id);
  const auto all = run_to_end(client, 1);
  EXPECT_EQ(all.at(id).end, EndKind::cancelled);
  EXPECT_EQ(all.at(id).heads, 0);
}

TEST(Client, goes_away_with_exchanges_still_running) {
  std::promise<void> closed;
  SocketServer server([&](SocketServer::Listener& listener) {
    Peer peer = listener.accept();
    peer.wait_for_close();
    closed.set_value();
  });
  {
    Client client({});
    client.start(at_port(server.port()), {});
  }
  EXPECT_EQ(closed.get_future().wait_until(patience()), std::future_status::ready);
}

TEST(Client, keeps_what_came_of_other_exchanges_while_it_fetches) {
  SocketServer server([](SocketServer::Listener& listener) {
    Peer first = listener.accept();
    first.read_request();
    first.send(std::string(stream_head) + chunk("data: x\n\n") + "0\r\n\r\n");
    say_hello(listener.accept());
  });
  Client client({});
  const ExchangeId id = client.start(at_port(server.port()), {});
  const auto answer = client.fetch(at_port(server.port()), {}, std::chrono::seconds(30));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "hello");
  const Exchanged first = run_to_end(client, 1)[id];
  EXPECT_EQ(first.body, "data: x\n\n");
  EXPECT_EQ(first.end, EndKind::complete);
}

TEST(Client, waits_no_longer_than_it_was_told) {
  Client client({});
  EXPECT_EQ(client.next(std::chrono::steady_clock::now()), std::nullopt);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_EQ(client.next(until), std::nullopt);
  EXPECT_GE(std::chrono::steady_clock::now(), until);
  EXPECT_EQ(client.next(TimePoint::max()), std::nullopt);  // nothing could ever come
}

// In a process of its own: an interrupt stays.
TEST(Client, returns_at_once_when_the_user_asked_to_stop_and_still_tells_ends) {
  const auto interrupted = [] {
    util::catch_interrupts();
    SocketServer server(
        [](SocketServer::Listener& listener) { listener.accept().wait_for_close(); });
    Client client({});
    const ExchangeId id = client.start(at_port(server.port()), {});
    std::raise(SIGINT);
    const auto until = patience();
    bool right = !client.next(until) && std::chrono::steady_clock::now() < until;
    client.cancel(id);
    const auto end = client.next(patience());
    right = right && end && std::holds_alternative<End>(end->what);
    client.close_idle();
    std::_Exit(right ? 0 : 1);
  };
  EXPECT_EXIT(interrupted(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace paceline::net
