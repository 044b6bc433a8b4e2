#include "store/compression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace paceline::store {
namespace {

RC_GTEST_PROP(Compression, gives_every_line_back, (const std::string& line)) {
  RC_ASSERT(*decompress(*compress(line)) == line);
}

TEST(Compression, refuses_a_frame_with_any_byte_changed_cut_or_added) {
  const std::string frame = *compress(std::string(300, 'x') + "and the rest of a line");
  for (std::size_t at = 0; at < frame.size(); ++at) {
    std::string spoiled = frame;
    spoiled[at] = static_cast<char>(spoiled[at] ^ 0x20);
    const auto line = decompress(spoiled);
    EXPECT_TRUE(!line || *line == *decompress(frame)) << "byte " << at;
    EXPECT_FALSE(decompress(frame.substr(0, at))) << "cut at " << at;
  }
  EXPECT_FALSE(decompress(frame + "x"));
}

TEST(Compression, refuses_a_small_frame_of_a_huge_line) {
  constexpr std::size_t longest = 1 << 20;
  const std::string bomb = *compress(std::string(longest + 1, '\0'));
  EXPECT_LT(bomb.size(), longest / 1000);
  EXPECT_FALSE(decompress(bomb, longest));
  EXPECT_TRUE(decompress(bomb, longest + 1));
}

}  // namespace
}  // namespace paceline::store
