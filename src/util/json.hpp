#pragma once

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "util/result.hpp"

namespace paceline::util {

using Json = nlohmann::ordered_json;

/// Thrown while reading a value from JSON, and caught by from_json_value only.
struct JsonMismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parses hostile text; names the byte where it stopped making sense. `what` names the input.
/// Nesting deeper than 100 is refused, so that a hostile value cannot exhaust the stack, and so is
/// an object with more than `most_keys` keys: each new key is compared with all before it.
Result<Json> parse_json(std::string_view text, std::string_view what,
                        std::size_t most_keys = std::numeric_limits<std::size_t>::max());

/// Parses a hostile array, giving `take` one element at a time and keeping none, so that memory
/// holds one element however long the array is. What `take` throws passes through.
Result<void> parse_json_elements(std::string_view text, std::string_view what,
                                 const std::function<void(const Json&)>& take);

/// One line of JSON. Bytes that are not UTF-8 become U+FFFD: model output may hold anything.
std::string dump_json(const Json& value);

template <class T>
void read_json(const Json& json, T& value);

template <class T>
void read_json(const Json& json, std::vector<T>& value) {
  if (!json.is_array()) throw JsonMismatch("an array was expected");
  value.clear();
  value.reserve(json.size());
  for (const auto& element : json) {
    T item{};
    read_json(element, item);
    value.push_back(std::move(item));
  }
}

template <class T>
void read_json(const Json& json, std::map<std::string, T>& value) {
  if (!json.is_object()) throw JsonMismatch("an object was expected");
  value.clear();
  for (const auto& [key, element] : json.items()) read_json(element, value[key]);
}

template <class T>
void read_json(const Json& json, std::optional<T>& value) {
  if (json.is_null()) {
    value.reset();
    return;
  }
  T item{};
  read_json(json, item);
  value = std::move(item);
}

/// Whole numbers are checked against the range of T; nothing is rounded or wrapped.
template <class T>
void read_json(const Json& json, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) throw JsonMismatch("true or false was expected");
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    if (!json.is_number_integer()) throw JsonMismatch("a whole number was expected");
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) throw JsonMismatch("the number is out of range");
    value = json.is_number_unsigned() ? static_cast<T>(json.get<std::uint64_t>())
                                      : static_cast<T>(json.get<std::int64_t>());
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!json.is_number()) throw JsonMismatch("a number was expected");
    value = json.get<T>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) throw JsonMismatch("a string was expected");
    value = json.get<std::string>();
  } else {
    from_json(json, value);
  }
}

template <class T>
void read_field(const Json& object, const char* key, T& value) {
  const auto found = object.find(key);
  if (found == object.end()) throw JsonMismatch(std::string("\"") + key + "\" is missing");
  try {
    read_json(*found, value);
  } catch (const JsonMismatch& problem) {
    throw JsonMismatch(std::string(key) + ": " + problem.what());
  }
}

/// Turns a parsed value into T, or says which key was missing or of the wrong type.
template <class T>
Result<T> from_json_value(const Json& value, std::string_view what) {
  try {
    T result{};
    read_json(value, result);
    return result;
  } catch (const std::exception& problem) {
    return fail(ErrorKind::usage, std::string(what) + ": " + problem.what());
  }
}

/// The names of an enumeration's values. Specialised by PACELINE_JSON_ENUM.
template <class T>
struct EnumNames;

template <class T>
const char* enum_name(T value) {
  for (const auto& [known, name] : EnumNames<T>::table)
    if (known == value) return name;
  return "?";
}

template <class T>
std::optional<T> enum_from_name(std::string_view name) {
  for (const auto& [known, text] : EnumNames<T>::table)
    if (text == name) return known;
  return std::nullopt;
}

template <class T>
T enum_from_json(const Json& json) {
  const auto value =
      json.is_string() ? enum_from_name<T>(json.template get<std::string>()) : std::optional<T>{};
  if (!value)
    throw JsonMismatch("unknown name " + json.dump(-1, ' ', false, Json::error_handler_t::replace));
  return *value;
}

}  // namespace paceline::util

namespace nlohmann {

/// An absent value is written as null.
template <class T>
struct adl_serializer<std::optional<T>> {
  template <class J>
  static void to_json(J& json, const std::optional<T>& value) {
    if (value)
      json = *value;
    else
      json = nullptr;
  }
};

}  // namespace nlohmann

#define PACELINE_JSON_READ(field) \
  paceline::util::read_field(nlohmann_json_j, #field, nlohmann_json_t.field);

/// The one list of a value type's fields, for JSON in both directions. The count is checked
/// against the type itself, so a field added to the struct and forgotten here does not compile.
#define PACELINE_JSON_FIELDS(Type, count, ...)                                                \
  static_assert(boost::pfr::tuple_size_v<Type> == (count),                                    \
                "a field of " #Type " is missing in its JSON list");                          \
  inline void to_json(paceline::util::Json& nlohmann_json_j, const Type& nlohmann_json_t) {   \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                  \
  }                                                                                           \
  inline void from_json(const paceline::util::Json& nlohmann_json_j, Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(PACELINE_JSON_READ, __VA_ARGS__))                \
  }                                                                                           \
  static_assert(true)

/// The one list of an enumeration's names: PACELINE_JSON_ENUM(Kind, {Kind::a, "a"}, ..);
/// an unknown name is refused. Use at the scope of namespace paceline::NAME.
#define PACELINE_ENUM_NAMES(Type, count, ...)                                   \
  template <>                                                                   \
  struct paceline::util::EnumNames<Type> {                                      \
    static constexpr std::pair<Type, const char*> table[count] = {__VA_ARGS__}; \
  }

#define PACELINE_ENUM_JSON(Type)                                         \
  inline void to_json(paceline::util::Json& json, const Type& value) {   \
    json = paceline::util::enum_name(value);                             \
  }                                                                      \
  inline void from_json(const paceline::util::Json& json, Type& value) { \
    value = paceline::util::enum_from_json<Type>(json);                  \
  }                                                                      \
  static_assert(true)
