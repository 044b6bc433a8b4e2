#include "engine/server/log_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.hpp"

namespace paceline::engine::server {
namespace {

using Lines = std::vector<std::string>;

void append(const LogFile& log, const std::string& text) {
  std::ofstream(log.path(), std::ios::app) << text;
}

TEST(LogFile, gives_its_lines_the_unfinished_one_too) {
  const support::TemporaryFolder folder;
  const auto log = LogFile::create(folder.path() / "new" / "logs");
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_TRUE(log->tail().empty());
  append(*log, "one\n\ntwo\nthr");
  EXPECT_EQ(log->tail(), (Lines{"one", "two", "thr"}));
}

TEST(LogFile, keeps_the_last_thirty_lines_each_cut_to_500_bytes) {
  const support::TemporaryFolder folder;
  const auto log = LogFile::create(folder.path());
  ASSERT_TRUE(log);
  for (int number = 1; number <= 100; ++number) append(*log, std::to_string(number) + "\n");
  append(*log, std::string(600, 'x') + "\n");
  const Lines tail = log->tail();
  ASSERT_EQ(tail.size(), 30u);
  EXPECT_EQ(tail.front(), "72");  // 72 to 100 are 29
  EXPECT_EQ(tail[28], "100");
  EXPECT_EQ(tail.back(), std::string(500, 'x'));
}

TEST(LogFile, of_one_endless_line_has_no_line_to_give) {
  const support::TemporaryFolder folder;
  const auto log = LogFile::create(folder.path());
  ASSERT_TRUE(log);
  append(*log, std::string(1'000'000, 'x'));
  EXPECT_LE(log->tail().size(), 1u);
}

TEST(LogFile, that_is_trimmed_is_small_and_still_has_its_tail) {
  const support::TemporaryFolder folder;
  auto log = LogFile::create(folder.path());
  ASSERT_TRUE(log);
  for (int number = 1; number <= 40; ++number) append(*log, std::to_string(number) + "\n");
  log->trim(1000);  // 9 + 31 numbers and newlines are 111 bytes: not more
  EXPECT_EQ(std::filesystem::file_size(log->path()), 111u);
  log->trim(110);
  EXPECT_EQ(std::filesystem::file_size(log->path()), 0u);
  append(*log, "41\n");
  const Lines tail = log->tail();
  ASSERT_EQ(tail.size(), 30u);
  EXPECT_EQ(tail.front(), "12");
  EXPECT_EQ(tail.back(), "41");
}

TEST(LogFile, is_gone_with_its_owner_and_two_have_different_names) {
  const support::TemporaryFolder folder;
  {
    auto one = LogFile::create(folder.path());
    const auto two = LogFile::create(folder.path());
    ASSERT_TRUE(one);
    ASSERT_TRUE(two);
    EXPECT_NE(one->path(), two->path());
    const LogFile moved = std::move(*one);
    EXPECT_TRUE(std::filesystem::exists(moved.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LogFile, in_a_folder_that_cannot_be_made_is_an_error_that_names_it) {
  const auto log = LogFile::create("/proc/no-such-folder");
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("/proc/no-such-folder"), std::string::npos);
}

}  // namespace
}  // namespace paceline::engine::server
