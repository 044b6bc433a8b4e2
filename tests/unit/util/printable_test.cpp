#include "util/printable.hpp"

#include <gtest/gtest.h>
// RapidCheck's GoogleTest glue needs gtest.h before it.
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace paceline::util {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(printable("Qwen3 27B (Q4_K), größer, 你好, 🚲"), "Qwen3 27B (Q4_K), größer, 你好, 🚲");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ShowsAnEscapeSequenceInsteadOfObeyingIt) {
  EXPECT_EQ(printable("\x1b]0;title\x07red\x1b[31m"), "\\x1b]0;title\\x07red\\x1b[31m");
}

TEST(Printable, KeepsTextOnOneLine) {
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\x0ab\\x0dc\\x09d");
  EXPECT_EQ(printable("a\xe2\x80\xa8z"), "a\\u2028z");
}

TEST(Printable, ShowsDeleteAndTheSecondSetOfControls) {
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  // U+009B starts a control sequence on terminals that know eight-bit controls.
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");
}

TEST(Printable, ShowsMarksThatTurnTheDirectionOfWriting) {
  EXPECT_EQ(printable("a\xe2\x80\xae"), "a\\u202e");
  EXPECT_EQ(printable("\xe2\x81\xa6"), "\\u2066");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xe2\x82"), "a\\xe2\\x82") << "cut short";
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "an overlong form of the escape character";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past the last code point";
}

RC_GTEST_PROP(Printable, NeverLetsAControlByteThrough, (const std::string& text)) {
  const std::string shown = printable(text);
  RC_ASSERT(std::none_of(shown.begin(), shown.end(), [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    return byte < 0x20 || byte == 0x7f;
  }));
  RC_ASSERT(printable(shown) == shown);
}

TEST(Columns, CountsCodePointsAndNoCombiningMarks) {
  EXPECT_EQ(columns("abc"), 3u);
  EXPECT_EQ(columns("±1"), 2u);
  EXPECT_EQ(columns("e\xcc\x81"), 1u);
  EXPECT_EQ(columns("\xff\xff"), 2u);
  EXPECT_EQ(columns(""), 0u);
}

}  // namespace
}  // namespace paceline::util
