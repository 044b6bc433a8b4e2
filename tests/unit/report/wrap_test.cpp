#include "report/wrap.hpp"

#include <gtest/gtest.h>

namespace paceline::report {
namespace {

TEST(Wrapped, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two three", 2, 8), "one two\n  three\n");
}

TEST(Wrapped, KeepsTheSpacesInsideALine) { EXPECT_EQ(wrapped("  a   b", 0, 20), "  a   b\n"); }

TEST(Wrapped, FillsALineToItsLastColumn) {
  EXPECT_EQ(wrapped("abcd efg", 0, 8), "abcd efg\n");
  EXPECT_EQ(wrapped("abcd efg", 0, 7), "abcd\nefg\n");
}

TEST(Wrapped, CountsLettersAndNotBytes) { EXPECT_EQ(wrapped("ööö äää", 0, 7), "ööö äää\n"); }

TEST(Wrapped, KeepsAWordThatIsLongerThanALineWhole) {
  EXPECT_EQ(wrapped("a abcdefghij b", 1, 5), "a\n abcdefghij\n b\n");
}

TEST(Wrapped, EndsAnEmptyTextWithANewline) { EXPECT_EQ(wrapped("", 4, 10), "\n"); }

}  // namespace
}  // namespace paceline::report
