#include "claim/given.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "claim/number.hpp"
#include "util/misused.hpp"
#include "util/printable.hpp"

namespace paceline::claim {

namespace {

struct Pair {
  std::string name;
  std::string_view value;
};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '/';
}

/// Where the name before an equals sign begins.
std::size_t name_before(std::string_view text, std::size_t equals) {
  while (equals > 0 && is_name(text[equals - 1])) --equals;
  return equals;
}

util::Result<std::vector<Pair>> pairs_of(std::string_view text) {
  std::vector<Pair> pairs;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t equals = text.find('=', at);
    if (equals == std::string_view::npos)
      return util::misused("--given {}: write NAME=VALUE, parted by commas",
                           util::printable(text.substr(at)));
    std::size_t end = text.size();
    for (std::size_t comma = text.find(',', equals); comma != std::string_view::npos;
         comma = text.find(',', comma + 1)) {
      const std::size_t next = text.find('=', comma);
      if (next == std::string_view::npos) continue;
      if (name_before(text, next) != text.find_first_not_of(' ', comma + 1)) continue;
      end = comma;
      break;
    }
    const std::size_t begin = name_before(text, equals);
    if (text.find_first_not_of(' ', at) != begin)
      return util::misused("--given {}: write NAME=VALUE, parted by commas",
                           util::printable(text.substr(at)));
    std::string name(text.substr(begin, equals - begin));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    pairs.push_back({std::move(name), text.substr(equals + 1, end - equals - 1)});
    at = end + 1;
  }
  return pairs;
}

util::Result<void> take_list(const Pair& pair, Stated stated, Row& row) {
  for (std::string_view rest = pair.value; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of("/ "), rest.size());
    const auto one = parse_figure(rest.substr(0, end), stated.figure);
    if (!one)
      return util::misused("--given {}={}: write shares parted by slashes, as in 0.8/0.6/0.5",
                           pair.name, util::printable(pair.value));
    stated.values.push_back(*one);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  row.add(std::move(stated));
  return {};
}

util::Result<void> take(const Pair& pair, const std::string& source, Row& row) {
  if (pair.name == "name") {
    row.label = pair.value;
    return {};
  }
  if (pair.name == "full") {
    if (pair.value != "yes" && pair.value != "no")
      return util::misused("--given full={}: write yes or no", util::printable(pair.value));
    row.full_drafts = pair.value == "yes";
    return {};
  }
  if (const auto figure = figure_of(pair.name)) {
    Stated stated{*figure, {}, {}, std::string(pair.value), source, {}};
    if (*figure == Figure::acceptance_at) return take_list(pair, std::move(stated), row);
    const auto range = parse_figure(pair.value, *figure);
    if (!range)
      return util::misused("--given {}={}: no figure with a unit of {}", pair.name,
                           util::printable(pair.value), name_of(*figure));
    if (row.find(*figure) != nullptr)
      return util::misused(
          "--given {}={}: it is given twice in one row; write --given again for "
          "another row",
          pair.name, util::printable(pair.value));
    stated.range = *range;
    row.add(std::move(stated));
    return {};
  }
  const auto& words = context_names();
  if (std::find(words.begin(), words.end(), pair.name) == words.end())
    return util::misused("--given {}: there is no such name; figures: {}; in words: name, full, {}",
                         util::printable(pair.name), fmt::join(given_names(), ", "),
                         fmt::join(words, ", "));
  row.context[pair.name] = pair.value;
  return {};
}

}  // namespace

const std::vector<std::string>& context_names() {
  static const std::vector<std::string> names = {
      "arm",   "class", "model",    "quant",     "imatrix",      "drafter", "drafter_quant",
      "build", "tool",  "sampling", "kv_type",   "memory_after", "backend", "quality",
      "stop",  "power", "mix",      "residency", "window",       "n_batch"};
  return names;
}

util::Result<Row> parse_given(std::string_view text, int number) {
  Row row;
  row.format = "--given";
  row.label = fmt::format("given {}", number);
  const std::string source = fmt::format("--given {}", number);
  PACELINE_TRY_ASSIGN(const auto pairs, pairs_of(text));
  for (const Pair& pair : pairs) PACELINE_TRY(take(pair, source, row));
  if (row.stated.empty())
    return util::misused("--given {}: no figure in it", util::printable(text));
  return row;
}

}  // namespace paceline::claim
