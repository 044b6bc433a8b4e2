#include "metrics/total.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace paceline::metrics {
namespace {

TEST(Total, is_unknown_with_the_first_reason_once_a_part_is) {
  Count total = 3;
  total += 4;
  EXPECT_EQ(total, 7);
  total += Count::unknown("the first does not say");
  total += Count::unknown("the second does not say");
  total += 5;
  EXPECT_FALSE(total.known());
  EXPECT_EQ(total.reason(), "the first does not say");
  EXPECT_TRUE(std::isnan(total.number()));
}

TEST(Total, that_is_unknown_is_in_no_relation_to_a_number) {
  const Count unknown = Count::unknown("not said");
  EXPECT_FALSE(unknown == 0);
  EXPECT_FALSE(unknown < 1);
  EXPECT_FALSE(unknown > -1);
  EXPECT_FALSE(unknown <= 0);
  EXPECT_FALSE(unknown >= 0);
}

TEST(Total, differs_by_an_unknown_one_as_unknown) {
  EXPECT_EQ(Count(9) - Count(4), 5);
  EXPECT_EQ((Count(9) - Count::unknown("b")).reason(), "b");
  EXPECT_EQ((Count::unknown("a") - Count::unknown("b")).reason(), "a");
}

}  // namespace
}  // namespace paceline::metrics
