#include <gtest/gtest.h>

#include <string>

#include "util/json.hpp"

namespace paceline::util {
namespace {

TEST(ParseJson, an_object_with_more_keys_than_allowed_is_refused) {
  EXPECT_TRUE(parse_json(R"({"a":1,"b":2,"c":3})", "x", 3));
  EXPECT_TRUE(parse_json(R"({"a":1,"b":2,"c":3,"d":4})", "x")) << "no limit unless one is given";
  const auto refused = parse_json(R"({"a":1,"b":2,"c":3,"d":4})", "x", 3);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("more than 3 keys"), std::string::npos)
      << refused.error().message;
}

TEST(ParseJson, keys_are_counted_for_each_object_by_itself) {
  EXPECT_TRUE(parse_json(R"([{"a":{"x":1,"y":2},"b":{"x":1,"y":2}},{"a":1,"b":2}])", "x", 2));
  EXPECT_FALSE(parse_json(R"({"a":{"x":1,"y":2,"z":3}})", "x", 2));
}

}  // namespace
}  // namespace paceline::util
