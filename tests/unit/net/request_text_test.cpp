#include "net/request_text.hpp"

#include <gtest/gtest.h>

namespace paceline::net {
namespace {

Url server_of(std::string_view text) { return parse_url(text).value(); }

std::string text_of(const Request& request, std::string_view server = "http://host:8080/prefix") {
  const auto text = request_text(server_of(server), request);
  return text ? *text : text.error().message;
}

TEST(RequestText, is_put_behind_the_prefix_with_host_and_length) {
  const std::string text =
      text_of({"POST", "/v1/completions?x=1", {{"Content-Type", "application/json"}}, "{}"});
  EXPECT_TRUE(text.starts_with("POST /prefix/v1/completions?x=1 HTTP/1.1\r\nHost: host:8080\r\n"));
  EXPECT_NE(text.find("\r\nContent-Length: 2\r\n"), std::string::npos);
  EXPECT_NE(text.find("\r\nContent-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(text.find("\r\nAccept-Encoding: identity\r\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\n\r\n{}"));
}

TEST(RequestText, leaves_out_the_length_of_a_get_and_says_that_of_an_empty_post) {
  EXPECT_EQ(text_of({"GET", "/", {}, ""}).find("Content-Length"), std::string::npos);
  EXPECT_NE(text_of({"POST", "/", {}, ""}).find("\r\nContent-Length: 0\r\n"), std::string::npos);
}

TEST(RequestText, names_the_host_as_the_scheme_has_it) {
  const Request request;
  EXPECT_NE(text_of(request, "http://h").find("\r\nHost: h\r\n"), std::string::npos);
  EXPECT_NE(text_of(request, "https://h").find("\r\nHost: h\r\n"), std::string::npos);
  EXPECT_NE(text_of(request, "https://h:80").find("\r\nHost: h:80\r\n"), std::string::npos);
  EXPECT_NE(text_of(request, "http://[::1]:1").find("\r\nHost: [::1]:1\r\n"), std::string::npos);
}

TEST(RequestText, cannot_be_broken_out_of_and_never_repeats_the_value_of_a_header) {
  const std::string message = text_of({"GET", "/", {{"Authorization", "Bearer s3cret\n"}}, ""});
  EXPECT_NE(message.find("Authorization"), std::string::npos) << message;
  EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
  const Url server = server_of("h");
  EXPECT_FALSE(request_text(server, {"GET", "/a b", {}, ""}));
  EXPECT_FALSE(request_text(server, {"GET", "/a\r\nX: y", {}, ""}));
  EXPECT_FALSE(request_text(server, {"GET", "no-slash", {}, ""}));
  EXPECT_FALSE(request_text(server, {"GET /", "/", {}, ""}));
  EXPECT_FALSE(request_text(server, {"GET", "/", {{"X: y\r\nZ", "1"}}, ""}));
  EXPECT_FALSE(request_text(server, {"GET", "/", {{"X", std::string("a\0b", 3)}}, ""}));
}

TEST(RequestText, keeps_to_itself_the_headers_that_frame_it) {
  const Url server = server_of("h");
  for (const char* name : {"host", "Content-length", "CONNECTION", "transfer-encoding"})
    EXPECT_FALSE(request_text(server, {"GET", "/", {{name, "1"}}, ""})) << name;
}

TEST(Headers, are_found_whatever_the_case_of_their_names) {
  const Headers headers{{"Content-Type", "text/event-stream"}, {"X", "1"}, {"x", "2"}};
  EXPECT_EQ(header(headers, "content-type"), "text/event-stream");
  EXPECT_EQ(header(headers, "X"), "1");
  EXPECT_EQ(header(headers, "content"), std::nullopt);
}

}  // namespace
}  // namespace paceline::net
