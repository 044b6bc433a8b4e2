#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "model/facts.hpp"
#include "support/gguf_builder.hpp"
#include "support/gguf_case.hpp"
#include "support/temporary_folder.hpp"
#include "util/files.hpp"

// The cases C301 to C345 of the collection of real GGUF inputs that parsers choke on, each built
// byte by byte. docs/gguf-cases.md is their table, written by this test:
//   PACELINE_WRITE_CASES=docs/gguf-cases.md build/bin/unit_tests --gtest_filter='GgufCases.*'

namespace paceline::model {
namespace {

using support::GgufCase;

util::Result<FileFacts> read(const GgufCase& one, const std::filesystem::path& folder) {
  for (const auto& [name, bytes] : one.beside)
    EXPECT_TRUE(util::write_file(folder / name, bytes)) << name;
  EXPECT_TRUE(util::write_file(folder / one.name, one.bytes));
  return read_file_facts(folder / one.name);
}

std::vector<GgufCase> all_cases() {
  std::vector<GgufCase> all;
  for (const auto& group :
       {support::gguf_header_cases(), support::gguf_key_cases(), support::gguf_tensor_cases(),
        support::gguf_set_cases(), support::gguf_model_cases()})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

bool is_odd(const FileFacts& facts, const std::string& part) {
  return std::any_of(facts.oddities.begin(), facts.oddities.end(), [&](const std::string& oddity) {
    return oddity.find(part) != std::string::npos;
  });
}

/// What happened, in one cell of a table.
std::string happened(const util::Result<FileFacts>& facts, const std::string& folder) {
  if (!facts) {
    std::string message = facts.error().message;
    for (std::size_t at; (at = message.find(folder + "/")) != std::string::npos;)
      message.erase(at, folder.size() + 1);
    return "refused: " + message;
  }
  std::string text = "read";
  for (const auto& oddity : facts->oddities) text += "; odd: " + oddity;
  return text;
}

std::string row(const GgufCase& one, const std::string& what) {
  std::string cells = fmt::format("| {} | {} | {} |\n", one.id, one.input, what);
  for (std::size_t at = 0; (at = cells.find("<", at)) != std::string::npos; at += 4)
    cells.replace(at, 1, "&lt;");
  return cells;
}

/// Whether a file cut short at that byte is refused as one.
bool is_refused_as_cut(std::string_view bytes, std::size_t length) {
  const MemorySource prefix(bytes.substr(0, length));
  const auto read = Gguf::read(prefix, "model.gguf");
  return !read && read.error().message.find("cut short") != std::string::npos;
}

std::string prefixes_happened() {
  const std::string bytes = support::small_model().bytes();
  std::size_t refused = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length)
    if (is_refused_as_cut(bytes, length)) ++refused;
  return fmt::format("{} of {} prefixes refused as damaged or cut short", refused, bytes.size());
}

constexpr const char* table_head =
    "# What happens to GGUF files that readers choke on\n\n"
    "Every row is a file built byte by byte and given to the reader "
    "(`tests/support/gguf_*_cases.cpp`,\n"
    "`tests/unit/model/cases_test.cpp`, which writes this table). `load` refuses what is refused "
    "here\n"
    "with the same words, and more (`src/worker/llama/loadable.cpp`).\n\n"
    "| case | input | what happened |\n|---|---|---|\n";

/// C336 and C345 are not in the lists: many files, and none.
std::string whole_table() {
  std::string table = table_head;
  for (const GgufCase& one : all_cases()) {
    if (one.id == "C337" && table.find("| C336") == std::string::npos)
      table += fmt::format("| C336 | a small file cut at every byte | {} |\n", prefixes_happened());
    const support::TemporaryFolder folder;
    table += row(one, happened(read(one, folder.path()), folder.path().string()));
  }
  return table +
         "| C345 | negative n_discard in a request to a server | no file: skipped, there is "
         "no client of servers yet |\n";
}

TEST(GgufCases, EachIsRefusedWithItsReasonOrReadRight) {
  for (const GgufCase& one : all_cases()) {
    SCOPED_TRACE(one.id + ": " + one.input);
    const support::TemporaryFolder folder;
    const auto facts = read(one, folder.path());
    if (!one.refused.empty()) {
      ASSERT_FALSE(facts) << "was read";
      EXPECT_NE(facts.error().message.find(one.refused), std::string::npos)
          << facts.error().message;
      continue;
    }
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_TRUE(one.odd.empty() || is_odd(*facts, one.odd)) << happened(facts, "");
    EXPECT_TRUE(!one.holds || one.holds(*facts)) << happened(facts, "");
  }
}

TEST(GgufCases, AreAllThere) {
  std::set<std::string> ids{"C336", "C345"};
  for (const GgufCase& one : all_cases()) ids.insert(one.id);
  std::set<std::string> wanted;
  for (int number = 301; number <= 345; ++number) wanted.insert(fmt::format("C{}", number));
  EXPECT_EQ(ids, wanted);
}

TEST(GgufCases, AreDescribedInTheDocuments) {
  const char* path = std::getenv("PACELINE_WRITE_CASES");
  const std::string table = whole_table();
  if (path != nullptr) {
    ASSERT_TRUE(util::write_file(path, table));
  }
  const auto written = util::read_file(PACELINE_SOURCE_DIR "/docs/gguf-cases.md");
  EXPECT_EQ(written.value_or(""), table);
}

/// C336: no prefix of a file is taken for a file. Only the padding behind the last tensor may go.
TEST(GgufCases, AFileCutAtAnyByteIsRefused) {
  const std::string bytes = support::small_model().bytes();
  const MemorySource all(bytes);
  ASSERT_TRUE(Gguf::read(all, "model.gguf"));
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_TRUE(is_refused_as_cut(bytes, length)) << length << " of " << bytes.size() << " bytes";
}

}  // namespace
}  // namespace paceline::model
