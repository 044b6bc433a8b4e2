#include "workload/records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace paceline::workload {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view blanks = " \t\r\n";

util::Result<void> read_array(std::string_view text, std::string_view source,
                              const TakeRecord& take) {
  std::size_t number = 0;
  try {
    return util::parse_json_elements(text, source, [&](const util::Json& record) {
      ++number;
      take(record);
    });
  } catch (const util::JsonMismatch& problem) {
    return util::fail(util::ErrorKind::usage,
                      fmt::format("{}, record {}: {}", source, number, problem.what()));
  }
}

util::Result<void> read_lines(std::string_view text, std::string_view source,
                              const TakeRecord& take) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(blanks) == std::string_view::npos) continue;
    const std::string where = fmt::format("{}, line {}", source, number);
    PACELINE_TRY_ASSIGN(const util::Json record, util::parse_json(line, where));
    try {
      take(record);
    } catch (const util::JsonMismatch& problem) {
      return util::fail(util::ErrorKind::usage, fmt::format("{}: {}", where, problem.what()));
    }
  }
  return {};
}

}  // namespace

util::Result<void> for_each_record(std::string_view text, std::string_view source,
                                   const TakeRecord& take) {
  if (text.substr(0, byte_order_mark.size()) == byte_order_mark)
    text.remove_prefix(byte_order_mark.size());
  const std::size_t begin = text.find_first_not_of(blanks);
  const bool is_array = begin != std::string_view::npos && text[begin] == '[';
  return is_array ? read_array(text, source, take) : read_lines(text, source, take);
}

}  // namespace paceline::workload
