#include "dialect/fields.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "util/printable.hpp"

namespace paceline::dialect {

namespace {

constexpr std::size_t most_oddities = 20;
constexpr std::size_t longest_line = 300;
constexpr std::size_t most_keys = 2000;
constexpr std::size_t most_positions = 4096;
constexpr double largest_count = 9007199254740992.0;  // 2^53: a double holds every one below

/// A whole number from 0 on, however it is written: 12, 12.0 and 1.2e1 are the same.
std::optional<long> count_of(const util::Json& json) {
  if (json.is_number_unsigned()) {
    const auto value = json.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(largest_count)) return std::nullopt;
    return static_cast<long>(value);
  }
  if (!json.is_number()) return std::nullopt;
  const double value = json.get<double>();
  if (!(value >= 0 && value <= largest_count)) return std::nullopt;
  if (std::floor(value) < value) return std::nullopt;
  return static_cast<long>(value);
}

std::optional<double> finite_of(const util::Json& json) {
  if (!json.is_number()) return std::nullopt;
  const double value = json.get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::size_t> position_of(const std::string& key) {
  std::size_t position = 0;
  const char* end = key.data() + key.size();
  const auto [stop, error] = std::from_chars(key.data(), end, position);
  if (error != std::errc() || stop != end || position >= most_positions) return std::nullopt;
  return position;
}

std::optional<std::vector<double>> dense_counts(const util::Json& list, std::size_t most) {
  if (list.size() > most) return std::nullopt;
  std::vector<double> counts;
  for (const auto& element : list) {
    const auto count = count_of(element);
    if (!count) return std::nullopt;
    counts.push_back(static_cast<double>(*count));
  }
  return counts;
}

std::optional<std::vector<double>> keyed_counts(const util::Json& object) {
  std::vector<double> counts;
  for (const auto& [key, element] : object.items()) {
    const auto position = position_of(key);
    const auto count = count_of(element);
    if (!position || !count) return std::nullopt;
    if (counts.size() <= *position) counts.resize(*position + 1, 0);
    counts[*position] = static_cast<double>(*count);
  }
  return counts;
}

}  // namespace

void add_oddity(std::vector<std::string>& oddities, std::string text) {
  if (oddities.size() < most_oddities)
    oddities.push_back(short_line(text));
  else if (oddities.size() == most_oddities)
    oddities.push_back("and more of the kind");
}

std::string short_line(std::string_view hostile) {
  std::string line = util::printable(hostile.substr(0, longest_line));
  if (line.size() <= longest_line && hostile.size() <= longest_line) return line;
  // Escapes made it longer: the cut may fall inside one, which is still plain text; it must not
  // fall inside a character.
  std::size_t end = std::min(line.size(), longest_line);
  while (end > 0 && end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U)
    --end;
  line.resize(end);
  return line + "...";
}

util::Result<util::Json> parse_object(std::string_view text, std::string_view what) {
  auto json = util::parse_json(text, what, most_keys);
  if (json && !json->is_object())
    return util::fail(util::ErrorKind::engine, std::string(what) + " is JSON but not an object.");
  return json;
}

util::Result<util::Json> parse_message(std::string_view text, std::vector<std::string>& oddities) {
  constexpr const char* what = "A message of the server";
  auto json = parse_object(text, what);
  if (json || text.empty()) return json;
  const std::string quoted = util::dump_json(util::Json(std::string(text)));
  const auto repaired = util::parse_json(quoted, what);
  if (!repaired || *repaired == text) return json;
  auto again = parse_object(repaired->get_ref<const std::string&>(), what);
  if (!again) return json;
  add_oddity(oddities, "a message held bytes that are not UTF-8; they were replaced");
  return again;
}

Fields::Fields(const util::Json& object, std::string where, std::vector<std::string>& oddities)
    : Fields(object.is_object() ? &object : nullptr, std::move(where), &oddities) {}

Fields::Fields(const util::Json* object, std::string where, std::vector<std::string>* oddities)
    : object_(object), where_(std::move(where)), oddities_(oddities) {}

bool Fields::has(const char* key) const { return object_ != nullptr && object_->contains(key); }

std::string Fields::path(const char* key) const {
  return where_.empty() ? std::string(key) : where_ + "." + key;
}

const util::Json* Fields::find(const char* key) const {
  if (object_ == nullptr) return nullptr;
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void Fields::odd(const char* key, const char* what) const {
  add_oddity(*oddities_, path(key) + " " + what);
}

std::optional<long> Fields::count(const char* key) const {
  const util::Json* json = find(key);
  if (json == nullptr) return std::nullopt;
  const auto value = count_of(*json);
  if (!value) odd(key, "is not a whole number from 0 on");
  return value;
}

std::optional<int> Fields::small_count(const char* key) const {
  const auto value = count(key);
  if (!value) return std::nullopt;
  if (*value > std::numeric_limits<int>::max()) {
    odd(key, "is out of range");
    return std::nullopt;
  }
  return static_cast<int>(*value);
}

std::optional<double> Fields::amount(const char* key) const {
  const util::Json* json = find(key);
  if (json == nullptr) return std::nullopt;
  const auto value = finite_of(*json);
  if (value && *value >= 0) return value;
  odd(key, "is not a number from 0 on");
  return std::nullopt;
}

std::optional<double> Fields::any_number(const char* key) const {
  const util::Json* json = find(key);
  if (json == nullptr) return std::nullopt;
  const auto value = finite_of(*json);
  if (!value) odd(key, "is not a number");
  return value;
}

std::optional<bool> Fields::flag(const char* key) const {
  const util::Json* json = find(key);
  if (json == nullptr) return std::nullopt;
  if (json->is_boolean()) return json->get<bool>();
  odd(key, "is neither true nor false");
  return std::nullopt;
}

std::optional<std::string> Fields::text(const char* key) const {
  const util::Json* json = find(key);
  if (json == nullptr) return std::nullopt;
  if (json->is_string()) return json->get<std::string>();
  odd(key, "is not a text");
  return std::nullopt;
}

std::optional<std::string> Fields::line(const char* key) const {
  const auto value = text(key);
  return value ? std::optional(short_line(*value)) : std::nullopt;
}

Fields Fields::object(const char* key) const {
  const util::Json* json = find(key);
  if (json != nullptr && !json->is_object()) {
    odd(key, "is not an object");
    json = nullptr;
  }
  return {json, path(key), oddities_};
}

const util::Json* Fields::array(const char* key) const {
  const util::Json* json = find(key);
  if (json == nullptr || json->is_array()) return json;
  odd(key, "is not a list");
  return nullptr;
}

std::optional<std::vector<double>> Fields::counts(const char* key, std::size_t most) const {
  const util::Json* json = find(key);
  if (json == nullptr) return std::nullopt;
  std::optional<std::vector<double>> counts;
  if (json->is_array()) counts = dense_counts(*json, most);
  if (json->is_object()) counts = keyed_counts(*json);
  if (!counts) odd(key, "is not a list of counts by position");
  return counts;
}

std::optional<std::map<std::size_t, std::vector<double>>> Fields::counts_by_number(
    const char* key) const {
  const util::Json* json = find(key);
  if (json == nullptr) return std::nullopt;
  std::map<std::size_t, std::vector<double>> lists;
  bool good = json->is_object();
  for (const auto& [number, list] : json->items()) {
    const auto at = position_of(number);
    auto counts = list.is_array() ? dense_counts(list, most_positions) : std::nullopt;
    good = good && at && counts;
    if (good) lists[*at] = std::move(*counts);
  }
  if (good) return lists;
  odd(key, "is not an object of lists of counts");
  return std::nullopt;
}

}  // namespace paceline::dialect
