#include "model/laboratory.hpp"

#include <fmt/format.h>

#include <sstream>

#include "model/sha256.hpp"
#include "util/files.hpp"

namespace paceline::model {

namespace {

constexpr std::size_t digits = 64;
constexpr const char* between = "  ";

bool is_entry(const std::string& line) {
  return line.size() > digits + 2 && line.compare(digits, 2, between) == 0 &&
         line.find_first_not_of("0123456789abcdef") == digits;
}

}  // namespace

util::Result<std::map<std::string, std::string>> parse_laboratory_list(const std::string& text) {
  std::map<std::string, std::string> hashes;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!is_entry(line))
      return util::fail(util::ErrorKind::engine,
                        fmt::format("line {} of {} is no SHA-256 and file name: write the list "
                                    "again with sha256sum",
                                    number, laboratory_list));
    hashes[line.substr(digits + 2)] = line.substr(0, digits);
  }
  return hashes;
}

util::Result<void> check_laboratory_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto list = path.parent_path() / laboratory_list;
  if (!std::filesystem::is_regular_file(list, ignored) ||
      !std::filesystem::is_regular_file(path, ignored))
    return {};
  PACELINE_TRY_ASSIGN(const std::string text, util::read_file(list));
  PACELINE_TRY_ASSIGN(const auto hashes, parse_laboratory_list(text));
  const auto expected = hashes.find(path.filename().string());
  if (expected == hashes.end()) return {};
  PACELINE_TRY_ASSIGN(const std::string found, sha256_of(path));
  if (found == expected->second) return {};
  return util::fail(
      util::ErrorKind::engine,
      fmt::format("'{}' is not the laboratory model of that name: its SHA-256 is {}, and {} beside "
                  "it says {}. Fetch the file again, or put a model of your own into another "
                  "folder.",
                  path.string(), found, list.filename().string(), expected->second));
}

}  // namespace paceline::model
