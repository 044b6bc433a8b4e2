#include "machine/probe/buffer.hpp"

#include <gtest/gtest.h>

namespace paceline::machine {
namespace {

constexpr const char* two_mappings =
    "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n"
    "Size:               2048 kB\nAnonHugePages:         0 kB\nVmFlags: rd wr nh\n"
    "7f0000400000-7f0000a00000 rw-p 00000000 00:00 0 \n"
    "Size:               6144 kB\nAnonHugePages:      4096 kB\nVmFlags: rd wr hg\n";

TEST(ParseHugeBytes, ReadsThoseOfTheMappingThatBeginsThere) {
  EXPECT_EQ(parse_huge_bytes(two_mappings, 0x7f0000400000), 4u << 20);
  EXPECT_EQ(parse_huge_bytes(two_mappings, 0x7f0000000000), 0u);
}

TEST(ParseHugeBytes, SaysNothingOfAMappingThatIsNotThere) {
  EXPECT_EQ(parse_huge_bytes(two_mappings, 0x7f0000200000), std::nullopt);
  EXPECT_EQ(parse_huge_bytes(two_mappings, 0x7f0000), std::nullopt) << "only its first digits";
  EXPECT_EQ(parse_huge_bytes("", 0x7f0000200000), std::nullopt);
  EXPECT_EQ(parse_huge_bytes("7f0000200000-7f0000400000 rw-p\n", 0x7f0000200000), std::nullopt);
}

TEST(Buffer, IsAMappingOfItsOwnThatTheSystemTellsOf) {
  const auto small = Buffer::make(4u << 20, Pages::small);
  const auto other = Buffer::make(4u << 20, Pages::small);
  ASSERT_TRUE(small && other);
  small->words()[0] = other->words()[0] = 1;
  EXPECT_EQ(small->word_count(), (4u << 20) / 8);
  EXPECT_EQ(small->huge_bytes(), 0u);
  EXPECT_EQ(other->huge_bytes(), 0u);
}

TEST(Buffer, RefusesWhatNoMachineHas) {
  const auto buffer = Buffer::make(std::uint64_t{1} << 62, Pages::huge);
  ASSERT_FALSE(buffer);
  EXPECT_NE(buffer.error().message.find("4611686018427387904 bytes"), std::string::npos);
}

}  // namespace
}  // namespace paceline::machine
