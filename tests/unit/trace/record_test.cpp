#include "trace/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline::trace {
namespace {

using ::testing::HasSubstr;

Launch launch(int index) {
  Launch launch;
  launch.index = index;
  return launch;
}

TEST(Record, of_every_kind_comes_back_as_it_was) {
  About about;
  about.command = {"run", "-m", "a b"};
  about.folder = "/home";
  about.machine.processor = "EPYC";
  about.machine.numa_nodes = {{0, "0-3", 5}};
  about.fingerprint["kernel"] = "6.1";
  const std::vector<Record> records = {
      {0, Header()},    {0, about},           {1, launch(1)},  {1, Request()},
      {1, WidthTime()}, {1, MemoryReading()}, {1, LoadCell()}, {1, FilledDepth()},
      {1, Rereading()}, {1, DraftMap()},      {1, Outcome()},  {0, Resumption{"", 1, {"x"}}},
      {0, End{true}}};
  ASSERT_EQ(records.size(), std::variant_size_v<Content>);
  for (const auto& record : records) {
    const auto line = line_of(record);
    const auto read = read_record(line, "a line");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->content.index(), record.content.index());
    EXPECT_EQ(read->launch, record.launch) << line;
    EXPECT_EQ(line_of(*read), line);
  }
}

Header header() {
  Header header;
  header.trace_id = "20260102T030405Z-0a1b2c";
  return header;
}

/// A run of launches 0 and 1, of which the last was cut off.
TraceBuilder cut_off() {
  TraceBuilder builder;
  EXPECT_TRUE(builder.take({0, header()}));
  for (const int index : {0, 1}) {
    EXPECT_TRUE(builder.take({index, launch(index)}));
    EXPECT_TRUE(builder.take({index, Request()}));
    if (index == 0) {
      EXPECT_TRUE(builder.take({index, Outcome()}));
    }
  }
  return builder;
}

TEST(TraceBuilder, counts_launches_as_done_that_ended_and_were_not_stopped) {
  auto builder = cut_off();
  EXPECT_EQ(builder.launches_done(), 1);
  ASSERT_TRUE(builder.take({1, ended(OutcomeKind::cancelled, "stopped by the user")}));
  EXPECT_EQ(builder.launches_done(), 1) << "it is made again";
  ASSERT_TRUE(builder.take({1, ended(OutcomeKind::crashed, "")}));
  EXPECT_EQ(builder.launches_done(), 2) << "how it ended is data";
}

TEST(TraceBuilder, lets_a_resumption_void_the_launches_past_those_kept) {
  auto builder = cut_off();
  ASSERT_TRUE(builder.take({0, End{true}}));
  ASSERT_TRUE(builder.take({0, Resumption{"2026-01-01T00:00:00Z", 1, {}}}));
  EXPECT_FALSE(builder.take({1, Request()})) << "its launch is void";
  ASSERT_TRUE(builder.take({1, launch(1)}));
  EXPECT_EQ(builder.launches_done(), 1);
  EXPECT_THAT(builder.take({0, Resumption{"", 3, {}}}).error().message, HasSubstr("more launches"));
  EXPECT_FALSE(builder.take({0, Resumption{"", -1, {}}}));
  auto unfinished = builder;
  EXPECT_TRUE(unfinished.finish()->interrupted) << "an end before a resumption is none";
  ASSERT_TRUE(builder.take({0, End{false}}));
  const auto trace = builder.finish();
  ASSERT_EQ(trace->launches.size(), 2u);
  EXPECT_TRUE(trace->launches[1].requests.empty());
  EXPECT_FALSE(trace->interrupted);
}

/// Why a header with a change made to it is refused; "" when it is not.
template <class Change>
std::string refusal(const Change& change) {
  Header changed = header();
  change(changed);
  const auto taken = TraceBuilder().take({0, changed});
  return taken ? "" : taken.error().message;
}

TEST(TraceBuilder, refuses_a_header_that_no_run_writes) {
  for (const std::string& id : {std::string(), std::string("last"), std::string("../../etc/passwd"),
                                std::string("-x"), std::string("a b"), std::string(65, 'a')})
    EXPECT_THAT(refusal([&](Header& header) { header.trace_id = id; }), HasSubstr("trace_id"))
        << id;
  EXPECT_EQ(refusal([](Header& header) { header.trace_id = std::string(64, 'a'); }), "");
  EXPECT_THAT(refusal([](Header& header) { header.rounds = -1; }), HasSubstr("below zero"));
  EXPECT_THAT(refusal([](Header& header) { header.n_predict = -1; }), HasSubstr("below zero"));
  EXPECT_EQ(refusal([](Header& header) { header.rounds = header.n_predict = 0; }), "");
}

TEST(TraceBuilder, refuses_what_cannot_come_twice_and_what_comes_after_the_end) {
  auto builder = cut_off();
  const auto refused = [&builder](const Record& record) {
    const auto taken = builder.take(record);
    return taken ? "" : taken.error().message;
  };
  EXPECT_THAT(refused({1, Request()}), HasSubstr("a second time"));
  Request request;
  request.warm_up = true;
  EXPECT_EQ(refused({1, request}), "");
  EXPECT_EQ(refused({1, request}), "") << "engines are warmed up by whatever it takes";
  request = {};
  request.prefill.began_ns = 5;
  EXPECT_EQ(refused({1, request}), "") << "the same asked later is another";
  EXPECT_THAT(refused({0, header()}), HasSubstr("second header"));
  EXPECT_EQ(refused({0, End{true}}), "");
  EXPECT_THAT(refused({1, Outcome()}), HasSubstr("after the end"));
  EXPECT_THAT(refused({0, End{true}}), HasSubstr("after the end"));
  EXPECT_EQ(refused({0, Resumption{"", 1, {}}}), "");
  EXPECT_EQ(refused({1, launch(1)}), "");
  EXPECT_EQ(refused({1, Request()}), "") << "that of the void launch is none";
}

}  // namespace
}  // namespace paceline::trace
