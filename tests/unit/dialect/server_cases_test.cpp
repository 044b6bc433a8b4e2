#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "util/files.hpp"

namespace paceline::dialect {
namespace {

const std::filesystem::path source_folder = PACELINE_SOURCE_DIR;

std::string text_of(const std::filesystem::path& path) {
  const auto text = util::read_file(path);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

/// Tests of this folder that name a case, as "Suite.name".
std::set<std::string> tests_that_name_a_case() {
  std::set<std::string> names;
  const std::regex test(R"(TEST\((\w+),\s*(C\d{3}\w+)\))");
  for (const auto& entry :
       std::filesystem::directory_iterator(source_folder / "tests/unit/dialect")) {
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at)
      names.insert((*at)[1].str() + "." + (*at)[2].str());
  }
  return names;
}

TEST(ServerCases, the_table_names_every_test_of_a_case_and_no_other) {
  const std::string table = text_of(source_folder / "docs/server-cases.md");
  std::set<std::string> named;
  const std::regex name(R"(`(\w+\.C\d{3}\w+)`)");
  for (std::sregex_iterator at(table.begin(), table.end(), name), end; at != end; ++at)
    named.insert((*at)[1].str());
  EXPECT_EQ(named, tests_that_name_a_case());
}

TEST(ServerCases, a_test_stands_in_the_row_of_each_case_that_it_names) {
  const std::string table = text_of(source_folder / "docs/server-cases.md");
  const std::regex id(R"(C\d{3})");
  for (const std::string& test : tests_that_name_a_case())
    for (std::sregex_iterator at(test.begin(), test.end(), id), end; at != end; ++at) {
      const std::regex row("\\| " + at->str() + " \\|[^\n]*`" + test + "`");
      EXPECT_TRUE(std::regex_search(table, row)) << test << " is not in the row of " << at->str();
    }
}

}  // namespace
}  // namespace paceline::dialect
