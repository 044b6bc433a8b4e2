#include "workload/records.hpp"

#include <gtest/gtest.h>

namespace paceline::workload {
namespace {

/// The "n" of each record, or the error.
std::string numbers(std::string_view text) {
  std::string seen;
  const auto done = for_each_record(text, "some.json", [&seen](const util::Json& record) {
    int number = 0;
    util::read_field(record, "n", number);
    seen += std::to_string(number) + " ";
  });
  return done ? seen : done.error().message;
}

TEST(Records, come_one_a_line_or_as_elements_of_an_array) {
  EXPECT_EQ(numbers("{\"n\": 1}\n\n  {\"n\": 2}\r\n"), "1 2 ");
  EXPECT_EQ(numbers(" [{\"n\": 1},\n {\"n\": 2, \"deep\": [[{\"n\": 9}], {}]}]"), "1 2 ");
  EXPECT_EQ(numbers("\xEF\xBB\xBF[{\"n\": 3}]"), "3 ");
  EXPECT_EQ(numbers("\xEF\xBB\xBF{\"n\": 3}"), "3 ");
  EXPECT_EQ(numbers("[]"), "");
  EXPECT_EQ(numbers(""), "");
}

TEST(Records, that_make_no_sense_are_named_by_line_or_number) {
  EXPECT_EQ(numbers("{\"n\": 1}\n{\"n\": \"x\"}"),
            "some.json, line 2: n: a whole number was expected");
  EXPECT_EQ(numbers("[{\"n\": 1}, {\"m\": 2}]"), "some.json, record 2: \"n\" is missing");
  EXPECT_EQ(numbers("[{\"n\": 1}, 7]").rfind("some.json, record 2: ", 0), 0u) << numbers("[7]");
  EXPECT_NE(numbers("{\"n\": 1}\n{\"n\":").find("some.json, line 2 is not JSON"),
            std::string::npos);
  EXPECT_NE(numbers("[{\"n\": 1}, {\"n\":").find("some.json is not JSON"), std::string::npos);
  EXPECT_NE(numbers("[{\"n\": 1}] more").find("is not JSON"), std::string::npos);
}

TEST(Records, nested_without_end_are_refused_and_not_followed) {
  const std::string deep = std::string(200'000, '[');
  EXPECT_NE(numbers(deep).find("nested deeper than 100 levels"), std::string::npos);
  EXPECT_NE(numbers("{\"n\": " + deep).find("nested deeper than 100 levels"), std::string::npos);
}

}  // namespace
}  // namespace paceline::workload
