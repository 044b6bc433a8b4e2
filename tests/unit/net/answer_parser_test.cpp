#include "net/answer_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace paceline::net {
namespace {

struct Read {
  int heads = 0;
  int status = 0;
  Headers headers;
  std::string body;
  bool whole = false;
  bool reusable = false;
  std::string problem;
};

/// What comes of an answer in these pieces; `closed`: the connection ends behind them.
Read read_all(const std::vector<std::string_view>& pieces, bool closed = false,
              bool to_head = false) {
  AnswerParser parser(1000, to_head);
  Read read;
  for (const auto piece : pieces) {
    if (read.whole || !read.problem.empty()) break;
    AnswerParser::Step step = parser.feed(piece);
    if (step.head) {
      ++read.heads;
      read.status = step.head->status;
      read.headers = std::move(step.head->headers);
    }
    read.body += step.body;
    read.whole = step.whole;
    read.problem = step.problem;
  }
  if (closed && !read.whole && read.problem.empty()) read.whole = parser.finish();
  read.reusable = parser.reusable();
  return read;
}

constexpr std::string_view chunked =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    "7\r\ndata: a\r\n2;name=value\r\n\n\n\r\nB\r\ndata: \xE2\x82\xAC\n\n\r\n0\r\nX-Trailer: "
    "1\r\n\r\n";
constexpr std::string_view chunked_body = "data: a\n\ndata: \xE2\x82\xAC\n\n";

TEST(AnswerParser, joins_the_chunks_of_a_body_wherever_the_stream_is_cut_twice) {
  for (std::size_t first = 0; first <= chunked.size(); ++first)
    for (std::size_t second = first; second <= chunked.size(); ++second) {
      const Read read = read_all({chunked.substr(0, first), chunked.substr(first, second - first),
                                  chunked.substr(second)});
      ASSERT_EQ(read.body, chunked_body) << "cut at " << first << " and " << second;
      ASSERT_EQ(read.heads, 1);
      ASSERT_EQ(read.headers.size(), 2u);
      ASSERT_TRUE(read.whole && read.reusable);
      ASSERT_EQ(read.problem, "");
    }
}

TEST(AnswerParser, reads_a_chunked_answer_byte_by_byte) {
  std::vector<std::string_view> bytes;
  for (const char& byte : chunked) bytes.emplace_back(&byte, 1);
  const Read read = read_all(bytes);
  EXPECT_EQ(read.body, chunked_body);
  EXPECT_TRUE(read.whole);
}

// Beast asserts five bytes where a body's only chunk, the last, has three so far.
TEST(AnswerParser, reads_an_empty_chunked_body_byte_by_byte) {
  constexpr std::string_view answer =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  std::vector<std::string_view> bytes;
  for (const char& byte : answer) bytes.emplace_back(&byte, 1);
  EXPECT_TRUE(read_all(bytes).whole);
}

TEST(AnswerParser, knows_an_answer_cut_anywhere_for_a_part) {
  for (std::size_t size = 0; size < chunked.size(); ++size) {
    const Read read = read_all({chunked.substr(0, size)}, true);
    ASSERT_FALSE(read.whole) << size;
    ASSERT_EQ(read.problem, "") << size;
  }
}

TEST(AnswerParser, reads_a_body_of_a_said_length) {
  constexpr std::string_view answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc";
  const Read read = read_all({answer});
  EXPECT_EQ(read.status, 404);
  EXPECT_EQ(read.body, "abc");
  EXPECT_TRUE(read.whole && read.reusable);
  EXPECT_FALSE(read_all({answer.substr(0, answer.size() - 1)}, true).whole);
}

TEST(AnswerParser, takes_a_body_of_no_said_length_to_the_end_of_the_connection) {
  const Read read = read_all({"HTTP/1.1 200 OK\r\n\r\nab", "c"}, true);
  EXPECT_EQ(read.body, "abc");
  EXPECT_TRUE(read.whole);
  EXPECT_FALSE(read.reusable);
  EXPECT_FALSE(read_all({"HTTP/1.1 200 OK\r\n\r\nabc"}).whole);
}

TEST(AnswerParser, expects_no_body_where_there_can_be_none) {
  EXPECT_TRUE(read_all({"HTTP/1.1 204 No Content\r\n\r\n"}).whole);
  EXPECT_TRUE(read_all({"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"}).whole);
  EXPECT_TRUE(read_all({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"}, false, true).whole);
}

TEST(AnswerParser, passes_over_what_announces_the_answer_only) {
  const Read read =
      read_all({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n"
                "\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"});
  EXPECT_EQ(read.heads, 1);
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.headers.size(), 1u);
  EXPECT_EQ(read.body, "a");
  EXPECT_TRUE(read.whole);
}

TEST(AnswerParser, does_not_wait_behind_announcements_for_ever) {
  std::string stream;
  for (int i = 0; i < 20; ++i) stream += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_NE(read_all({stream}).problem, "");
  EXPECT_NE(read_all({"HTTP/1.1 101 Switching Protocols\r\n\r\n"}).problem, "");
}

TEST(AnswerParser, does_not_use_a_connection_again_that_is_closed_or_out_of_step) {
  EXPECT_FALSE(
      read_all({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na"}).reusable);
  EXPECT_FALSE(read_all({"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"}).reusable);
  EXPECT_FALSE(read_all({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP"}).reusable);
}

TEST(AnswerParser, says_why_something_is_no_answer) {
  for (const char* text :
       {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2 200\r\n\r\n", "\x15\x03\x03", "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n"}) {
    const Read read = read_all({text});
    EXPECT_NE(read.problem, "") << text;
    EXPECT_FALSE(read.whole) << text;
  }
}

TEST(AnswerParser, takes_no_more_than_its_limits) {
  const std::string long_body(1001, 'x');
  EXPECT_NE(read_all({"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"}).problem, "");
  EXPECT_NE(read_all({"HTTP/1.1 200 OK\r\n\r\n", long_body}).problem, "");
  EXPECT_NE(read_all({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n"}).problem, "");
  const std::string endless(70000, 'x');
  EXPECT_NE(read_all({"HTTP/1.1 200 OK\r\nX: ", endless}).problem, "");
  EXPECT_NE(read_all({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", endless}).problem,
            "");
}

}  // namespace
}  // namespace paceline::net
