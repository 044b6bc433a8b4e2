#include "util/files.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <iterator>

#include "support/temporary_folder.hpp"

namespace paceline::util {
namespace {

long files_in(const support::TemporaryFolder& folder) {
  const std::filesystem::directory_iterator all(folder.path());
  return std::distance(begin(all), end(all));
}

TEST(Files, come_back_as_they_were_written) {
  const support::TemporaryFolder folder;
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_file(folder.path() / "f", bytes));
  EXPECT_EQ(*read_file(folder.path() / "f"), bytes);
  EXPECT_EQ(files_in(folder), 1) << "nothing half written is left";
}

TEST(Files, of_others_beside_the_written_one_are_left_alone) {
  const support::TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path() / "f.part", "somebody's half download"));
  EXPECT_TRUE(check_writable(folder.path() / "f"));
  EXPECT_TRUE(write_file(folder.path() / "f", "mine"));
  EXPECT_EQ(*read_file(folder.path() / "f.part"), "somebody's half download");
}

TEST(Files, behind_a_link_are_written_and_the_link_stays) {
  const support::TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path() / "f", "old"));
  std::filesystem::create_symlink(folder.path() / "f", folder.path() / "link");
  ASSERT_TRUE(write_file(folder.path() / "link", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
  EXPECT_EQ(*read_file(folder.path() / "f"), "new");
}

TEST(Files, are_the_same_by_any_path_that_leads_to_them) {
  const support::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "a");
  std::filesystem::create_directory_symlink(folder.path() / "a", folder.path() / "b");
  EXPECT_TRUE(is_same_file(folder.path() / "a" / "new", folder.path() / "b" / "new"));
  EXPECT_TRUE(is_same_file(folder.path() / "a" / ".." / "new", folder.path() / "new"));
  EXPECT_FALSE(is_same_file(folder.path() / "a" / "new", folder.path() / "new"));
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

TEST(Files, that_could_be_written_are_not_touched_by_asking) {
  const support::TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path() / "f", "kept"));
  EXPECT_TRUE(check_writable(folder.path() / "f"));
  EXPECT_TRUE(check_writable(folder.path() / "new"));
  EXPECT_EQ(*read_file(folder.path() / "f"), "kept");
  EXPECT_EQ(files_in(folder), 1);
  EXPECT_FALSE(check_writable(folder.path()));
  EXPECT_FALSE(check_writable(folder.path() / "no" / "such" / "folder"));
}

TEST(Files, that_are_devices_are_written_to_and_not_replaced) {
  EXPECT_TRUE(write_file("/dev/null", "gone"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const auto full = write_file("/dev/full", "too much");
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("No space"), std::string::npos) << full.error().message;
}

TEST(Files, that_belong_to_a_program_are_found_from_its_own_place) {
  const std::filesystem::path built = std::filesystem::path(PACELINE_BINARY_DIR).parent_path();
  EXPECT_EQ(own_program("paceline-worker"), built / "libexec/paceline/paceline-worker");
  ASSERT_EQ(::unsetenv("PACELINE_SHARE"), 0);
  EXPECT_EQ(shipped("models/a.gguf"), built / "share/paceline/models/a.gguf");
  EXPECT_TRUE(std::filesystem::exists(shipped("models/README.md")));
}

TEST(Files, that_ship_are_looked_for_where_the_user_says) {
  ASSERT_EQ(::setenv("PACELINE_SHARE", "/elsewhere", 1), 0);
  EXPECT_EQ(shipped("models/a.gguf"), "/elsewhere/models/a.gguf");
  ASSERT_EQ(::unsetenv("PACELINE_SHARE"), 0);
}

TEST(Files, that_are_programs_are_found_as_a_shell_finds_them) {
  const support::TemporaryFolder folder;
  const auto program = folder.path() / "tool";
  ASSERT_TRUE(write_file(program, "#!/bin/sh\n"));
  EXPECT_FALSE(find_program(program.string())) << "it may not be run";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_EQ(find_program(program.string()), program);
  EXPECT_FALSE(find_program(folder.path().string())) << "a folder is no program";
  EXPECT_FALSE(find_program("/no/such/tool"));
  const std::string before = std::getenv("PATH");
  ASSERT_EQ(::setenv("PATH", ("/no/such::" + folder.path().string()).c_str(), 1), 0);
  EXPECT_EQ(find_program("tool"), program);
  EXPECT_FALSE(find_program("another-tool"));
  ASSERT_EQ(::unsetenv("PATH"), 0);
  EXPECT_FALSE(find_program("tool"));
  ASSERT_EQ(::setenv("PATH", before.c_str(), 1), 0);
}

}  // namespace
}  // namespace paceline::util
