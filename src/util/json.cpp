#include "util/json.hpp"

namespace paceline::util {

namespace {
constexpr int deepest_nesting = 100;
}

Result<Json> parse_json(std::string_view text, std::string_view what) {
  try {
    const auto limit_depth = [](int depth, Json::parse_event_t, Json&) {
      if (depth > deepest_nesting) throw JsonMismatch("nested deeper than 100 levels");
      return true;
    };
    return Json::parse(text, limit_depth);
  } catch (const std::exception& problem) {
    return fail(ErrorKind::usage, std::string(what) + " is not JSON: " + problem.what());
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace paceline::util
