#include "util/json.hpp"

#include <string>
#include <vector>

namespace paceline::util {

namespace {

constexpr int deepest_nesting = 100;

void check_depth(int depth) {
  if (depth > deepest_nesting) throw std::length_error("nested deeper than 100 levels");
}

tl::unexpected<Error> not_json(std::string_view what, const char* why) {
  return fail(ErrorKind::usage, std::string(what) + " is not JSON: " + why);
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what, std::size_t most_keys) {
  using Event = Json::parse_event_t;
  std::vector<std::size_t> keys;  // of the objects that are open
  const auto limit = [&keys, most_keys](int depth, Event event, Json&) {
    check_depth(depth);
    if (event == Event::object_start) keys.push_back(0);
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && ++keys.back() > most_keys)
      throw std::length_error("an object has more than " + std::to_string(most_keys) + " keys");
    return true;
  };
  try {
    return Json::parse(text, limit);
  } catch (const std::exception& problem) {
    return not_json(what, problem.what());
  }
}

Result<void> parse_json_elements(std::string_view text, std::string_view what,
                                 const std::function<void(const Json&)>& take) {
  using Event = Json::parse_event_t;
  const auto take_elements = [&take](int depth, Event event, Json& value) {
    check_depth(depth);
    const bool ends_value =
        event == Event::object_end || event == Event::array_end || event == Event::value;
    if (depth != 1 || !ends_value) return true;
    take(value);
    return false;
  };
  try {
    const Json array = Json::parse(text, take_elements);
    if (array.is_array()) return {};
    return not_json(what, "an array was expected");
  } catch (const Json::exception& problem) {
    return not_json(what, problem.what());
  } catch (const std::length_error& problem) {
    return not_json(what, problem.what());
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace paceline::util
