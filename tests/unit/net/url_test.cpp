#include "net/url.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace paceline::net {
namespace {

/// How a URL was understood, or "refused".
std::string as_read(std::string_view text) {
  const auto url = parse_url(text);
  return url ? url->text() : "refused";
}

std::string message_of(std::string_view text) {
  const auto url = parse_url(text);
  return url ? std::string() : url.error().message;
}

TEST(Url, is_taken_apart_into_scheme_host_port_and_prefix) {
  const auto url = parse_url("https://Example.org:8443/v2/llm/");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->secure);
  EXPECT_EQ(url->host, "example.org");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->prefix, "/v2/llm");
}

TEST(Url, has_the_port_of_its_scheme_when_it_names_none) {
  EXPECT_EQ(as_read("http://h"), "http://h:80");
  EXPECT_EQ(as_read("HTTPS://h/"), "https://h:443");
  EXPECT_EQ(as_read("http://h:"), "http://h:80");
}

TEST(Url, without_a_scheme_is_http) {
  EXPECT_EQ(as_read("localhost:8000"), "http://localhost:8000");
  EXPECT_EQ(as_read("127.0.0.1"), "http://127.0.0.1:80");
  EXPECT_EQ(as_read("host/prefix"), "http://host:80/prefix");
}

TEST(Url, keeps_an_ipv6_address_in_brackets_in_its_text_alone) {
  const auto url = parse_url("http://[::1]:8080");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->text(), "http://[::1]:8080");
  EXPECT_EQ(as_read("[::1]"), "http://[::1]:80");
  EXPECT_EQ(as_read("http://::1:8080"), "refused");
  EXPECT_EQ(as_read("http://[::1"), "refused");
  EXPECT_EQ(as_read("http://[1.2.3.4]"), "refused");
  EXPECT_EQ(as_read("http://[::1]8080"), "refused");
}

TEST(Url, has_a_port_from_1_to_65535_in_digits) {
  EXPECT_EQ(as_read("h:1"), "http://h:1");
  EXPECT_EQ(as_read("h:65535"), "http://h:65535");
  for (const char* text : {"h:0", "h:65536", "h:99999999999", "h:-1", "h:+1", "h:8080x", "h: 80"})
    EXPECT_EQ(as_read(text), "refused") << text;
}

TEST(Url, that_is_none_is_refused) {
  for (const char* text :
       {"",      "http://", "http:///x", "://h",       "ftp://h",  "h st",          "h\n",
        "h/a b", "h/%",     "h/%2",      "h/%zz",      "h?x=1",    "h/p?x=1",       "h/p#f",
        "h/\"",  "h\\x",    "h\x7F",     "h/\xC3\xA9", "\xC3\xA9", "http://h:80:80"})
    EXPECT_EQ(as_read(text), "refused") << text;
  EXPECT_EQ(as_read(std::string("h\0x", 3)), "refused");
  EXPECT_EQ(as_read(std::string("[::1\0x]", 8)), "refused");
  EXPECT_EQ(as_read(std::string(300, 'h')), "refused");
  EXPECT_EQ(as_read("h/" + std::string(3000, 'p')), "refused");
}

TEST(Url, keeps_escapes_in_its_prefix_as_they_are) {
  EXPECT_EQ(as_read("h/a%2Fb//c/"), "http://h:80/a%2Fb//c");
}

TEST(Url, with_a_password_is_refused_without_repeating_it) {
  for (const char* text : {"http://me:s3cret@host", "https://s3cret@host/x", "me:s3/cret@host",
                           "ftp://me:s3cret@host", "h:s3cret/@"}) {
    const std::string message = message_of(text);
    EXPECT_NE(message, "") << text;
    EXPECT_EQ(message.find("s3"), std::string::npos) << message;
  }
}

TEST(Url, is_read_again_from_its_own_text) {
  for (const char* text : {"http://h", "https://[fe80::1]:9/x/y", "a.b-c_d:7/%20"})
    EXPECT_EQ(as_read(as_read(text)), as_read(text));
}

TEST(Url, is_refused_with_what_was_wrong_in_a_line_that_a_terminal_only_shows) {
  const std::string message = message_of("http://h\x1b[2J:80");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_NE(message.find("\\x1b"), std::string::npos) << message;
}

}  // namespace
}  // namespace paceline::net
