#include <gtest/gtest.h>

#include "document/workload.hpp"
#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

metrics::WidthCurve curve_of(const std::string& arm, const std::vector<double>& seconds) {
  metrics::WidthCurve curve;
  curve.arm = arm;
  for (const double verify_s : seconds) {
    metrics::WidthCost cost;
    cost.width = static_cast<int>(curve.widths.size()) + 1;
    cost.verify_s = support::exactly(verify_s);
    curve.widths.push_back(cost);
  }
  return curve;
}

// 3.5 tokens a pass pay for passes of up to 3.5 times the time: 4 tokens wide with f16, 3 with
// q8_0.
TEST(ToWorkload, BreaksEvenByThePassesOfThePlainArmOfTheSameKvTypes) {
  const std::vector<metrics::WidthCurve> curves = {
      curve_of("plain", {0.01, 0.01, 0.02, 0.03, 0.04}),
      curve_of("plain@k:q8_0", {0.01, 0.02, 0.03, 0.04})};
  const auto drafted = support::sample_class({"json", 3.5, 2.5, 300, 90}, false);
  const auto length = [&](const trace::Arm& arm) {
    return to_workload(drafted, arm, {}, curves).break_even.value->draft_length;
  };
  trace::Arm other = support::sample_arm("dflash-n6", trace::SpecType::draft_dflash, 6);
  EXPECT_EQ(length(other), 3);
  other.plain = "plain@k:q8_0";
  EXPECT_EQ(length(other), 2);
}

}  // namespace
}  // namespace paceline::document
