#include "cli/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace paceline::cli {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 8> units = {{{"", 1},
                                                                       {"B", 1},
                                                                       {"KB", 1e3},
                                                                       {"MB", 1e6},
                                                                       {"GB", 1e9},
                                                                       {"KiB", 1024.0},
                                                                       {"MiB", 1048576.0},
                                                                       {"GiB", 1073741824.0}}};
constexpr double largest = 1e15;

}  // namespace

util::Result<std::uint64_t> parse_size(const std::string& text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto* found =
      std::find_if(units.begin(), units.end(), [&](const auto& one) { return one.first == unit; });
  if (problem == std::errc() && found != units.end() && number > 0 &&
      number * found->second <= largest)
    return static_cast<std::uint64_t>(number * found->second);
  return util::fail(util::ErrorKind::usage,
                    fmt::format("'{}' is no size: write one as in 500MB, 4GB or 4GiB", text));
}

util::Result<int> parse_token_count(const std::string& text) {
  constexpr int most = 1 << 24;
  int number = -1;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, number);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const int factor = unit.empty() ? 1 : unit == "k" || unit == "K" ? 1024 : 0;
  if (problem == std::errc() && factor > 0 && number >= 0 && number <= most / factor)
    return number * factor;
  return util::fail(util::ErrorKind::usage,
                    fmt::format("'{}' is no number of tokens: write one as in 4096 or 4k", text));
}

}  // namespace paceline::cli
