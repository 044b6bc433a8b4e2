#include "protocol/frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace paceline::protocol {
namespace {

std::vector<std::string> all_payloads(FrameReader& reader) {
  std::vector<std::string> payloads;
  while (true) {
    auto next = reader.next();
    EXPECT_TRUE(next) << next.error().message;
    if (!next || !*next) return payloads;
    payloads.push_back(**next);
  }
}

TEST(Frame, writes_the_length_in_four_little_endian_bytes) {
  const std::string bytes = frame(std::string(258, 'x'));
  EXPECT_EQ(bytes.substr(0, 4), std::string("\x02\x01\x00\x00", 4));
  EXPECT_EQ(bytes.size(), 4u + 258u);
}

TEST(Frame, comes_back_whole_wherever_the_stream_is_cut) {
  const std::string stream = frame("first") + frame("") + frame(std::string("nul\0inside", 10));
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameReader reader;
    reader.feed(std::string_view(stream).substr(0, cut));
    auto payloads = all_payloads(reader);
    reader.feed(std::string_view(stream).substr(cut));
    for (auto& payload : all_payloads(reader)) payloads.push_back(payload);
    ASSERT_EQ(payloads, (std::vector<std::string>{"first", "", std::string("nul\0inside", 10)}))
        << "cut at byte " << cut;
  }
}

TEST(Frame, with_an_absurd_length_is_refused_without_waiting_for_its_bytes) {
  FrameReader reader;
  reader.feed("\xff\xff\xff\x7f");
  const auto next = reader.next();
  ASSERT_FALSE(next);
  EXPECT_NE(next.error().message.find("2147483647"), std::string::npos);
  EXPECT_FALSE(reader.next()) << "a corrupt stream stays corrupt";
}

}  // namespace
}  // namespace paceline::protocol
