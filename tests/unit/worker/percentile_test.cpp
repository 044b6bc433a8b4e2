#include "worker/percentile.hpp"

#include <gtest/gtest.h>

namespace paceline::worker {
namespace {

Percentile of(const std::vector<float>& values) {
  Percentile percentile;
  for (const float value : values) percentile.add(value);
  return percentile;
}

TEST(Percentile, OfNumbersInARowIsTheOneThatSoManyDoNotExceed) {
  Percentile percentile;
  for (int i = 1000; i > 0; --i) percentile.add(static_cast<float>(i) * 0.001f);
  EXPECT_EQ(percentile.count(), 1000);
  for (const double share : {0.01, 0.5, 0.99}) {
    EXPECT_GE(percentile.at(share), share * 0.9999);
    EXPECT_LE(percentile.at(share), share * (1 + 1.0 / 128) * 1.0001);
  }
  EXPECT_FLOAT_EQ(static_cast<float>(percentile.at(1)), 1.0f);
  EXPECT_FLOAT_EQ(static_cast<float>(percentile.largest()), 1.0f);
}

TEST(Percentile, IsNeverAboveTheLargestValue) {
  EXPECT_DOUBLE_EQ(of({0.75f}).at(0.99), 0.75);
  EXPECT_DOUBLE_EQ(of({0, 0, 1e-6f}).at(0.99), static_cast<double>(1e-6f));
}

TEST(Percentile, OfZerosIsZeroHoweverManyLargerOnesFollow) {
  EXPECT_EQ(of({0, -0.0f}).at(0.99), 0);
  Percentile percentile;
  for (int i = 0; i < 990; ++i) percentile.add(0);
  for (int i = 0; i < 10; ++i) percentile.add(3);
  EXPECT_EQ(percentile.at(0.99), 0);
  percentile.add(3);
  EXPECT_EQ(percentile.at(0.99), 3) << "990 of 1001 are under 99 %";
}

TEST(Percentile, OfNothingIsZero) {
  EXPECT_EQ(Percentile().at(0.99), 0);
  EXPECT_EQ(Percentile().count(), 0);
}

}  // namespace
}  // namespace paceline::worker
