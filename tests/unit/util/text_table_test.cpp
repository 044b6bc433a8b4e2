#include "util/text_table.hpp"

#include <gtest/gtest.h>

namespace paceline::util {
namespace {

TextTable sample_table() {
  TextTable table;
  table.add_column("arm", Align::left);
  table.add_column("ms", Align::right);
  table.add_column("note", Align::left);
  table.add_row({{"plain"}, {"8.5"}, {"±1"}});
  table.add_row({{"a"}, {"12.25"}});
  return table;
}

TEST(TextTable, AlignsColumnsAndEndsNoLineInASpace) {
  EXPECT_EQ(sample_table().render(1, false),
            " arm       ms  note\n"
            " plain    8.5  ±1\n"
            " a      12.25\n");
}

TEST(TextTable, MeasuresItsLongestLine) {
  // indent 1, "plain" 5, gap 2, "12.25" 5, gap 2, "note" 4
  EXPECT_EQ(sample_table().width(1), 19u);
}

TEST(TextTable, LeavesOutAColumnWithoutAnyText) {
  TextTable table;
  table.add_column("a", Align::left);
  table.add_column("", Align::left);
  table.add_column("b", Align::left);
  table.add_row({{"1"}, {""}, {"2"}});
  EXPECT_EQ(table.render(0, false), "a  b\n1  2\n");
  EXPECT_EQ(table.width(0), 4u);
}

TEST(TextTable, CountsLettersAndNotBytes) {
  TextTable table;
  table.add_column("größe", Align::left);
  table.add_column("x", Align::left);
  table.add_row({{"12345"}, {"y"}});
  EXPECT_EQ(table.render(0, false), "größe  x\n12345  y\n");
}

TEST(TextTable, ColoursOnlyTheTextAndOnlyWhenAsked) {
  TextTable table;
  table.add_column("", Align::left);
  table.add_column("", Align::right);
  table.add_row({{"ab", Emphasis::good}, {"7", Emphasis::bad}});
  table.add_row({{"abc"}, {"10"}});
  EXPECT_EQ(table.render(0, true),
            "\n"
            "\x1b[32mab\x1b[0m    \x1b[31m7\x1b[0m\n"
            "abc  10\n");
  EXPECT_EQ(table.render(0, false), "\nab    7\nabc  10\n");
}

}  // namespace
}  // namespace paceline::util
