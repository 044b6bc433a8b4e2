#include "report/wrap.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "report/history.hpp"
#include "util/printable.hpp"

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

/// The longest line of a list of studies in a terminal so wide.
std::size_t widest(const document::HistoryStudy& study, int width) {
  document::History history;
  history.studies = {study};
  Style style;
  style.width = width;
  std::istringstream text(report::history(history, style));
  std::size_t most = 0;
  for (std::string line; std::getline(text, line);) most = std::max(most, util::columns(line));
  return most;
}

TEST(HistoryList, CutsLongNamesToTheWidth) {
  document::HistoryStudy study;
  study.id = "20261130T195320Z-fdb265";
  study.created = "2026-11-30T19:53:20Z";
  study.state = "done";
  study.models = std::string(50, 'm') + ".gguf";
  study.workload = "/home/somebody/" + std::string(60, 'w') + "/chats.jsonl";
  for (const int width : {80, 100, 120, 140})
    EXPECT_LE(widest(study, width), static_cast<std::size_t>(width)) << width;
  EXPECT_GT(widest(study, 240), 150u) << "whole where there is room";
  study.created = study.workload = std::string(100'000, 'x');
  EXPECT_LE(widest(study, 120), 120u);
}

}  // namespace
}  // namespace paceline::report
