#include "metrics/proportion.hpp"

#include <gtest/gtest.h>

namespace paceline::metrics {
namespace {

// Newcombe 1998 (Statistics in Medicine 17, 857), table I, score method without continuity
// correction.
TEST(Proportion, has_the_score_intervals_of_newcombes_table) {
  const struct {
    int part, whole;
    double low, high;
  } rows[] = {{81, 263, 0.2553, 0.3662},
              {15, 148, 0.0624, 0.1605},
              {0, 20, 0.0000, 0.1611},
              {1, 29, 0.0061, 0.1718}};
  for (const auto& row : rows) {
    const Estimate share = proportion(row.part, row.whole);
    EXPECT_DOUBLE_EQ(*share.value, double(row.part) / row.whole);
    EXPECT_NEAR(*share.low, row.low, 0.00005) << row.part << "/" << row.whole;
    EXPECT_NEAR(*share.high, row.high, 0.00005) << row.part << "/" << row.whole;
    EXPECT_EQ(share.n, row.whole);
    EXPECT_FALSE(share.level.empty());
  }
}

TEST(Proportion, of_all_ends_at_one_and_mirrors_that_of_none) {
  const Estimate all = proportion(20, 20);
  const Estimate none = proportion(0, 20);
  EXPECT_DOUBLE_EQ(*all.high, 1);
  EXPECT_DOUBLE_EQ(*none.low, 0);
  EXPECT_NEAR(*all.low, 1 - *none.high, 1e-12);
}

TEST(Proportion, of_nothing_is_not_known) {
  const Estimate nothing = proportion(0, 0);
  EXPECT_FALSE(nothing.value);
  EXPECT_FALSE(nothing.reason.empty());
}

}  // namespace
}  // namespace paceline::metrics
