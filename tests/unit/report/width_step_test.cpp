#include "report/width_step.hpp"

#include <gtest/gtest.h>

namespace paceline::report {
namespace {

document::Width width(int tokens, double seconds, double spread) {
  document::Width result;
  result.width = tokens;
  result.verify_s.value = seconds;
  if (spread > 0) {
    result.verify_s.low = seconds * (1 - spread);
    result.verify_s.high = seconds * (1 + spread);
  }
  return result;
}

bool second_is_slow(const document::Width& narrow, const document::Width& wide) {
  return is_slow_step({"arm", 0, {narrow, wide}}, 1);
}

TEST(SlowStep, IsAPassThatIsDearerPerTokenThanTheNarrowerOne) {
  // The F16 kernels of one thread: 7 tokens in 29.4 ms, 8 in 50.2 ms.
  EXPECT_TRUE(second_is_slow(width(7, 0.0294, 0.02), width(8, 0.0502, 0.02)));
}

TEST(SlowStep, IsNoGrowthInProportionToTheWidth) {
  EXPECT_FALSE(second_is_slow(width(7, 0.07, 0.001), width(8, 0.08, 0.001)));
  EXPECT_FALSE(second_is_slow(width(1, 0.0117, 0.02), width(2, 0.0198, 0.02)));
}

TEST(SlowStep, IsNotClaimedWhereIntervalsAllowProportion) {
  // Per token 10 ms +-10 % against 11.25 ms +-10 %.
  EXPECT_FALSE(second_is_slow(width(7, 0.07, 0.1), width(8, 0.09, 0.1)));
  EXPECT_TRUE(second_is_slow(width(7, 0.07, 0.01), width(8, 0.09, 0.01)));
}

TEST(SlowStep, IsNotSeenWithoutIntervals) {
  EXPECT_FALSE(second_is_slow(width(7, 0.07, 0), width(8, 0.97, 0)));
}

TEST(SlowStep, TakesWidthsThatWereSkippedIntoAccount) {
  EXPECT_FALSE(second_is_slow(width(4, 0.04, 0.01), width(8, 0.079, 0.01)));
}

TEST(SlowStep, IsUnknownWithoutATimeOrANarrowerWidth) {
  document::Width untimed;
  untimed.width = 7;
  EXPECT_FALSE(second_is_slow(untimed, width(8, 0.05, 0.01)));
  EXPECT_FALSE(is_slow_step({"arm", 0, {width(8, 0.05, 0.01)}}, 0));
}

TEST(CurveOf, FindsTheCurveOfAnArm) {
  document::Document document;
  document.width_curves = {{"a", 0, {}}, {"b", 0, {}}};
  EXPECT_EQ(curve_of(document, "b"), &document.width_curves[1]);
  EXPECT_EQ(curve_of(document, "c"), nullptr);
}

}  // namespace
}  // namespace paceline::report
