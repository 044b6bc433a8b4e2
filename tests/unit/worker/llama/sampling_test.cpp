#include "worker/llama/sampling.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace paceline::worker {
namespace {

TEST(Sampling, TheGapIsBetweenTheTwoLargestLogitsWhereverTheyStand) {
  const std::array<float, 4> falling{8, 5.5f, 1, -3};
  const std::array<float, 4> rising{-3, 1, 5.5f, 8};
  const std::array<float, 3> tied{2, 7, 7};
  EXPECT_DOUBLE_EQ(top2_gap(falling.data(), 4), 2.5);
  EXPECT_DOUBLE_EQ(top2_gap(rising.data(), 4), 2.5);
  EXPECT_DOUBLE_EQ(top2_gap(tied.data(), 3), 0);
  EXPECT_TRUE(std::isinf(top2_gap(tied.data(), 1)));
}

}  // namespace
}  // namespace paceline::worker
