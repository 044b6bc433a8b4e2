#include "net/lag.hpp"

#include <gtest/gtest.h>

namespace paceline::net {
namespace {

TEST(Lag, is_unknown_before_anything_was_seen) {
  const LagHistogram lag;
  EXPECT_EQ(lag.percentile(0.5), std::nullopt);
  EXPECT_EQ(lag.largest(), std::nullopt);
}

// 1 to 1000 ms once each: by nearest rank the median is 500 ms, the 99th of a hundred 990 ms.
TEST(Lag, has_its_percentiles_within_the_resolution_that_it_promises) {
  LagHistogram lag;
  for (int ms = 1; ms <= 1000; ++ms) lag.add(ms * 1e-3);
  EXPECT_NEAR(*lag.percentile(0.5), 0.500, 0.022 * 0.500);
  EXPECT_NEAR(*lag.percentile(0.99), 0.990, 0.022 * 0.990);
  EXPECT_DOUBLE_EQ(*lag.largest(), 1.0);
  EXPECT_LE(*lag.percentile(1), *lag.largest());
}

TEST(Lag, keeps_to_its_ends) {
  LagHistogram lag;
  lag.add(0);
  EXPECT_DOUBLE_EQ(*lag.percentile(0.5), 1e-6);
  lag.add(-1);
  lag.add(1e9);
  EXPECT_DOUBLE_EQ(*lag.largest(), 1e9);
  EXPECT_NEAR(*lag.percentile(1), 67.1, 0.1);
}

}  // namespace
}  // namespace paceline::net
