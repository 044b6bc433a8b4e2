#include "net/sse.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paceline::net {
namespace {

using namespace std::string_literals;

using Events = std::vector<std::pair<std::string, std::string>>;  // name, data
using Strings = std::vector<std::string>;

void feed(SseParser& parser, std::string_view bytes, Events& into) {
  std::vector<SseEvent> events;
  parser.feed(bytes, events);
  for (auto& event : events) into.emplace_back(std::move(event.name), std::move(event.data));
}

Events events_of(std::string_view stream) {
  SseParser parser;
  Events events;
  feed(parser, stream, events);
  return events;
}

Strings data_of(std::string_view stream) {
  Strings data;
  for (auto& [name, text] : events_of(stream)) data.push_back(std::move(text));
  return data;
}

// The three examples of the standard, section 9.2.6, and what it says of them.
TEST(Sse, reads_the_examples_of_the_standard) {
  EXPECT_EQ(data_of("data: YHOO\ndata: +2\ndata: 10\n\n"), Strings{"YHOO\n+2\n10"});
  EXPECT_EQ(data_of(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
                    "data:  third event\n\n"),
            (Strings{"first event", "second event", " third event"}));
  EXPECT_EQ(data_of("data\n\ndata\ndata\n\ndata:"), (Strings{"", "\n"}));
}

TEST(Sse, takes_one_space_behind_the_colon_and_no_more) {
  EXPECT_EQ(data_of("data:a\n\ndata: a\n\ndata:  a\n\ndata:\ta\n\n"),
            (Strings{"a", "a", " a", "\ta"}));
}

TEST(Sse, ends_lines_at_crlf_lf_and_cr_alike) {
  const Strings expected{"a\nb", "c"};
  EXPECT_EQ(data_of("data: a\ndata: b\n\ndata: c\n\n"), expected);
  EXPECT_EQ(data_of("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n"), expected);
  EXPECT_EQ(data_of("data: a\rdata: b\r\rdata: c\r\r"), expected);
  EXPECT_EQ(data_of("data: a\r\ndata: b\n\rdata: c\r\r\n"), expected);
}

TEST(Sse, takes_a_byte_order_mark_off_the_start_and_nowhere_else) {
  EXPECT_EQ(data_of("\xEF\xBB\xBF"
                    "data: a\n\n\xEF\xBB\xBF"
                    "data: b\n\ndata: c\n\n"),
            (Strings{"a", "c"}));
  EXPECT_EQ(data_of("\xEF\xBB\xBF\xEF\xBB\xBF"
                    "data: a\n\n"),
            Strings{});
  EXPECT_EQ(data_of("\xEF\xBB\xBF\n\ndata: a\n\n"), Strings{"a"});
}

TEST(Sse, gives_an_event_its_name_and_forgets_it_after) {
  EXPECT_EQ(events_of("event: error\ndata: {}\n\ndata: x\n\n"),
            (Events{{"error", "{}"}, {"", "x"}}));
  EXPECT_EQ(events_of("event: ping\n\ndata: x\n\n"), (Events{{"", "x"}}));
  EXPECT_EQ(events_of("event: a\nevent: b\ndata: x\n\n"), (Events{{"b", "x"}}));
}

TEST(Sse, passes_over_fields_it_does_not_know) {
  EXPECT_EQ(data_of("id: 7\nretry: 10\nfoo: bar\nDATA: no\n data: no\ndata: yes\nnothing\n\n"),
            Strings{"yes"});
}

TEST(Sse, keeps_zeros_and_what_is_not_utf8_as_they_came) {
  EXPECT_EQ(data_of("data: a\0b\xFF\n\n"s), Strings{"a\0b\xFF"s});
}

TEST(Sse, C134_a_comment_or_heartbeat_is_no_event_even_with_its_blank_line) {
  EXPECT_EQ(data_of(": ping - 2024-02-23 06:52:12.876102\n\n: keepalive\r\n\r\n:\n\n\n\n"
                    "event: ping\n\ndata: a\n: between\ndata: b\n\n:\n"),
            Strings{"a\nb"});
}

// Case C133: the last chunk has the usage and no choices, or nothing of them at all; all come.
TEST(Sse, C133_the_usage_only_last_chunk_is_an_event_before_done) {
  EXPECT_EQ(data_of("data: {\"choices\":[],\"usage\":{\"completion_tokens\":3}}\n\n"
                    "data: {\"usage\":{\"completion_tokens\":3}}\n\ndata: [DONE]\n\n"),
            (Strings{"{\"choices\":[],\"usage\":{\"completion_tokens\":3}}",
                     "{\"usage\":{\"completion_tokens\":3}}", "[DONE]"}));
}

TEST(Sse, C137_C138_role_and_reasoning_chunks_are_events_of_their_own_though_one_read_brings_them) {
  EXPECT_EQ(
      data_of("data: {\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}\n\n"
              "data: {\"delta\":{\"reasoning_content\":\"Okay\"}}\n\n"
              "data: {\"delta\":{\"reasoning\":\"Okay\"}}\n\n"
              "data: {\"delta\":{\"content\":\"\\n\\n\"}}\n\n"),
      (Strings{"{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}",
               "{\"delta\":{\"reasoning_content\":\"Okay\"}}",
               "{\"delta\":{\"reasoning\":\"Okay\"}}", "{\"delta\":{\"content\":\"\\n\\n\"}}"}));
}

// Comments, names, all three line ends, several data lines, a byte order mark and letters of two
// to four bytes.
constexpr std::string_view awkward =
    "\xEF\xBB\xBF: hello\r\n\r\nevent: one\r\ndata: \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\r\n\r\n"
    "data:a\rdata: b\r\r:\n\ndata: c\n\nid: 9\ndata\n\n";
const Events awkward_events{
    {"one", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"}, {"", "a\nb"}, {"", "c"}, {"", ""}};

TEST(Sse, C136_gives_the_same_events_wherever_two_cuts_split_the_stream) {
  for (std::size_t first = 0; first <= awkward.size(); ++first)
    for (std::size_t second = first; second <= awkward.size(); ++second) {
      SseParser parser;
      Events events;
      feed(parser, awkward.substr(0, first), events);
      feed(parser, awkward.substr(first, second - first), events);
      feed(parser, awkward.substr(second), events);
      ASSERT_EQ(events, awkward_events) << "cut at " << first << " and " << second;
    }
}

TEST(Sse, C136_gives_the_same_events_byte_by_byte) {
  SseParser parser;
  Events events;
  for (const char& byte : awkward) feed(parser, {&byte, 1}, events);
  EXPECT_EQ(events, awkward_events);
}

TEST(Sse, C136_gives_an_event_when_the_read_with_its_blank_line_comes) {
  SseParser parser;
  Events events;
  feed(parser, "data: x\n", events);
  EXPECT_EQ(events, Events{});
  feed(parser, "\n", events);
  EXPECT_EQ(events, (Events{{"", "x"}}));
}

RC_GTEST_PROP(Sse, any_stream_in_any_pieces_gives_the_same_events_and_end, ()) {
  const auto lines = *rc::gen::container<Strings>(rc::gen::element<std::string>(
      "data: x", "data:", ":", "event: e", "", "id", "\xEF\xBB\xBF", "data: \xE2\x82\xAC"));
  std::string stream;
  for (const auto& line : lines)
    stream += line + *rc::gen::element<std::string>("\n", "\r", "\r\n");
  const auto cuts =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 9));

  SseParser whole;
  Events expected;
  feed(whole, stream, expected);
  SseParser pieces;
  Events events;
  std::string_view rest = stream;
  for (const std::size_t cut : cuts) {
    feed(pieces, rest.substr(0, cut), events);
    rest.remove_prefix(std::min(cut, rest.size()));
  }
  feed(pieces, rest, events);
  RC_ASSERT(events == expected);
  RC_ASSERT(pieces.finish() == whole.finish());
}

TEST(Sse, says_at_its_end_whether_an_event_was_cut_off) {
  const auto dropped = [](std::string_view stream) {
    SseParser parser;
    Events events;
    feed(parser, stream, events);
    return parser.finish();
  };
  EXPECT_FALSE(dropped(""));
  EXPECT_FALSE(dropped("data: x\n\n"));
  EXPECT_FALSE(dropped("data: x\n\n: bye"));
  EXPECT_FALSE(dropped("\xEF\xBB\xBF"));
  EXPECT_TRUE(dropped("data: x\n"));
  EXPECT_TRUE(dropped("data: x"));
  EXPECT_TRUE(dropped("data: x\n\nda"));
  EXPECT_FALSE(dropped("event: ping\n"));
}

TEST(Sse, begins_anew_after_its_end) {
  SseParser parser;
  Events events;
  feed(parser, "data: lost\nda", events);
  EXPECT_TRUE(parser.finish());
  feed(parser,
       "\xEF\xBB\xBF"
       "data: kept\n\n",
       events);
  EXPECT_EQ(events, (Events{{"", "kept"}}));
}

TEST(Sse, gives_up_on_data_without_an_end_and_on_nothing_shorter) {
  SseParser parser(10);
  Events events;
  feed(parser, "data: 1234\n\n", events);
  EXPECT_FALSE(parser.too_long());
  feed(parser, "data: 1\ndata: 2\n", events);
  EXPECT_FALSE(parser.too_long());  // "1\n2" and the line before it, 7 bytes, never stood together
  feed(parser, "data: 34", events);
  EXPECT_TRUE(parser.too_long());
  feed(parser, "\n\ndata: x\n\n", events);
  EXPECT_EQ(events, (Events{{"", "1234"}}));
}

TEST(Lines, come_without_their_ends_and_without_empty_ones) {
  LineParser parser;
  Strings lines;
  parser.feed("{\"a\":1}\r\n\n\r\n{\"b\"", lines);
  EXPECT_EQ(lines, Strings{"{\"a\":1}"});
  parser.feed(":2}\n{\"c\":3}", lines);
  EXPECT_EQ(lines, (Strings{"{\"a\":1}", "{\"b\":2}"}));
  EXPECT_EQ(parser.finish(), "{\"c\":3}");
  EXPECT_EQ(parser.finish(), "");
}

TEST(Lines, are_the_same_wherever_the_stream_is_cut) {
  constexpr std::string_view stream = "a\r\n\nb\rc\n\xE2\x82\xAC\r\n";
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    LineParser parser;
    Strings lines;
    parser.feed(stream.substr(0, cut), lines);
    parser.feed(stream.substr(cut), lines);
    ASSERT_EQ(lines, (Strings{"a", "b\rc", "\xE2\x82\xAC"})) << "cut at " << cut;
  }
}

TEST(Lines, without_an_end_are_given_up) {
  LineParser parser(4);
  Strings lines;
  parser.feed("1234\n12", lines);
  EXPECT_FALSE(parser.too_long());
  parser.feed("345", lines);
  EXPECT_TRUE(parser.too_long());
  parser.feed("\n1\n", lines);
  EXPECT_EQ(lines, Strings{"1234"});
}

}  // namespace
}  // namespace paceline::net
