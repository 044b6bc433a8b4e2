#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "dialect/dialect.hpp"
#include "trace/names.hpp"
#include "util/files.hpp"

// docs/servers.md has a table of what every dialect says, written by this test:
//   PACELINE_WRITE_SERVERS=docs/servers.md build/bin/unit_tests --gtest_filter='ServersDocument.*'

namespace paceline::dialect {
namespace {

constexpr const char* begin_mark =
    "<!-- abilities: tests/unit/dialect/servers_document_test.cpp writes this table -->\n";
constexpr const char* end_mark = "<!-- end of abilities -->\n";

std::string table() {
  std::string head = "| quantity |";
  std::string line = "|---|";
  for (const auto& dialect : all()) {
    head += " " + std::string(dialect->name()) + " |";
    line += "---|";
  }
  std::string text = head + "\n" + line + "\n";
  for (int quantity = 0; quantity < trace::quantities; ++quantity) {
    text += fmt::format("| `{}` |", util::enum_name(static_cast<trace::Quantity>(quantity)));
    for (const auto& dialect : all()) {
      const auto abilities = dialect->abilities();
      text += abilities.at(static_cast<std::size_t>(quantity)).source.empty() ? " - |" : " yes |";
    }
    text += "\n";
  }
  return text;
}

TEST(ServersDocument, says_what_every_dialect_can_say) {
  std::string document = util::read_file(PACELINE_SOURCE_DIR "/docs/servers.md").value_or("");
  const std::size_t begin = document.find(begin_mark);
  const std::size_t end = document.find(end_mark);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  const std::size_t from = begin + std::string(begin_mark).size();
  if (const char* path = std::getenv("PACELINE_WRITE_SERVERS")) {
    document.replace(from, end - from, table());
    ASSERT_TRUE(util::write_file(path, document));
    return;
  }
  EXPECT_EQ(document.substr(from, end - from), table());
}

TEST(ServersDocument, has_every_quantity_of_every_dialect_in_its_place) {
  for (const auto& dialect : all()) {
    const auto abilities = dialect->abilities();
    ASSERT_EQ(abilities.size(), static_cast<std::size_t>(trace::quantities)) << dialect->name();
    for (int quantity = 0; quantity < trace::quantities; ++quantity)
      EXPECT_EQ(static_cast<int>(abilities[static_cast<std::size_t>(quantity)].quantity), quantity);
  }
}

}  // namespace
}  // namespace paceline::dialect
