#include "util/files.hpp"

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace paceline::util {
namespace {

TEST(Files, come_back_as_they_were_written) {
  const support::TemporaryFolder folder;
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_file(folder.path() / "f", bytes));
  EXPECT_EQ(*read_file(folder.path() / "f"), bytes);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "f.part"));
}

TEST(Files, that_are_empty_are_read_as_empty) {
  const support::TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path() / "f", ""));
  const auto text = read_file(folder.path() / "f");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "");
}

TEST(Files, that_cannot_be_read_or_written_say_which_and_why) {
  const support::TemporaryFolder folder;
  const auto missing = read_file(folder.path() / "missing");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("missing: No such file"), std::string::npos)
      << missing.error().message;
  EXPECT_FALSE(read_file(folder.path()));
  const auto written = write_file(folder.path() / "no" / "such" / "folder", "x");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace paceline::util
