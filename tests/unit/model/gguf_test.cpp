#include "model/gguf.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "support/gguf_builder.hpp"

namespace paceline::model {
namespace {

using support::GgufBuilder;
using support::little_endian;

util::Result<Gguf> read(const std::string& bytes) {
  const MemorySource source(bytes);
  return Gguf::read(source, "m.gguf");
}

TEST(Gguf, ReadsEveryTypeOfValue) {
  const auto file = read(GgufBuilder("a")
                             .key("u8", 0, "\xff")
                             .key("i8", 1, "\xff")
                             .key("u16", 2, little_endian<std::uint16_t>(65535))
                             .key("i16", 3, little_endian<std::uint16_t>(65535))
                             .key("u32", 4, little_endian<std::uint32_t>(4'000'000'000))
                             .key("i32", 5, little_endian<std::uint32_t>(~0U))
                             .f32("f32", 0.7f)
                             .key("true", 7, "\1")
                             .text("text", "x")
                             .key("u64", 10, little_endian<std::uint64_t>(~std::uint64_t{0}))
                             .key("i64", 11, little_endian<std::uint64_t>(1ULL << 63))
                             .key("f64", 12, little_endian(std::bit_cast<std::uint64_t>(0.25)))
                             .bytes());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->number("u8"), 255);
  EXPECT_EQ(file->number("i8"), -1);
  EXPECT_EQ(file->number("u16"), 65535);
  EXPECT_EQ(file->number("i16"), -1);
  EXPECT_EQ(file->number("u32"), 4'000'000'000);
  EXPECT_EQ(file->number("i32"), -1);
  EXPECT_EQ(file->number("i64"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(file->number("u64"), std::nullopt) << "it is no number of anything";
  EXPECT_EQ(std::get<std::uint64_t>(file->find("u64")->data), ~std::uint64_t{0});
  EXPECT_EQ(std::get<float>(file->find("f32")->data), 0.7f);
  EXPECT_EQ(std::get<double>(file->find("f64")->data), 0.25);
  EXPECT_EQ(std::get<bool>(file->find("true")->data), true);
  EXPECT_EQ(file->text("text"), "x");
  EXPECT_EQ(file->text("u8"), std::nullopt) << "a key of another type counts as absent";
  EXPECT_EQ(file->number("text"), std::nullopt);
  EXPECT_EQ(file->find("nothing"), nullptr);
}

TEST(Gguf, KeepsAFewWholeNumbersAndCountsTheRest) {
  const auto file =
      read(GgufBuilder("a")
               .u32s("a.few", {1, 2, 3})
               .u32s("a.many", std::vector<std::uint32_t>(4097, 1))
               .key("a.floats", 9,
                    little_endian<std::uint32_t>(6) + little_endian<std::uint64_t>(1) + "0123")
               .texts("tokenizer.ggml.tokens", 5)
               .bytes());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->own_numbers("few"), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(file->own_numbers("many"), std::nullopt);
  EXPECT_EQ(file->array("a.many")->count, 4097u);
  EXPECT_EQ(file->own_numbers("floats"), std::nullopt);
  EXPECT_EQ(file->vocabulary(), 5);
}

TEST(Gguf, TakesTensorsWhereTheAlignmentPutsThem) {
  const auto file = read(GgufBuilder("a")
                             .alignment(64)
                             .tensor("x", {3}, 0, 12)
                             .tensor("y", {32, 2}, 2, 36)
                             .tensor("z", {}, 0, 4)
                             .bytes());
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->tensors().size(), 3u);
  EXPECT_EQ(file->tensors()[1].offset, 64u);
  EXPECT_EQ(file->tensors()[1].bytes, 36u) << "two rows of one block of 18 bytes";
  EXPECT_EQ(file->tensors()[2].elements, 1u) << "no dimensions are one number";
  EXPECT_EQ(file->trailing_bytes(), 0u);
}

TEST(Gguf, SaysWhatFollowsTheLastTensor) {
  const std::string bytes = support::small_model().bytes();
  EXPECT_EQ(read(bytes + "12345")->trailing_bytes(), 5u);
  EXPECT_FALSE(read(bytes + "12345")->another_follows());
  EXPECT_TRUE(read(bytes + bytes)->another_follows());
}

TEST(Gguf, RefusesAHeadLongerThanAnyModelHas) {
  const std::string text(257u << 20, 'x');
  const auto file = read(GgufBuilder("a").text("long", text).bytes());
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("a head of more than 256 MiB"), std::string::npos);
}

TEST(Gguf, NamesTheKeyAndThePlaceOfWhatIsWrong) {
  const auto file = read(GgufBuilder("a").key("bad\n", 13, "").bytes());
  ASSERT_FALSE(file);
  // 24 bytes of header; 8 + 20 + 4 + 8 + 1 of general.architecture; 8 + 4 of this key's name.
  EXPECT_EQ(file.error().message.rfind("'m.gguf' is damaged or cut short: at byte 77, the key "
                                       "'bad\\x0a' has the type 13, which there is not",
                                       0),
            0u)
      << file.error().message;
}

TEST(Gguf, SubtractsNothingThatOverflows) {
  const auto file = read(GgufBuilder("a")
                             .key("a.block_count", 11, little_endian<std::uint64_t>(1ULL << 63))
                             .u32("a.nextn_predict_layers", 1)
                             .bytes());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->trunk_layers(), std::nullopt);
}

}  // namespace
}  // namespace paceline::model
