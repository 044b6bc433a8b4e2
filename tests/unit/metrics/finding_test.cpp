#include "metrics/finding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace paceline::metrics;

/// Eight prompts alike in three launches that differ by `sd` around 0.
Grid launches(double sd) {
  Grid grid(8, 3);
  for (std::size_t unit = 0; unit < 8; ++unit)
    for (std::size_t launch = 0; launch < 3; ++launch)
      grid.at(unit, launch) = sd * (static_cast<double>(launch) - 1);
  return grid;
}

/// Launches of A, B and A again vary alike, so that the standard error of a difference is `error`:
/// that of B on 16/3 degrees of freedom (t 2.52 at 95 %, 1.99 at 90 %, from tables between 5 and
/// 6), that of A again on 4 (t 2.776).
Grounds grounds(double error) {
  const double sd = error * std::sqrt(1.5);
  const LogFigure one{launches(sd)};
  return {difference(one, one, one), difference(one, one, {}), 0.95, true};
}

Comparison seen(double log_ratio, double log_again = 0) {
  Comparison comparison;
  comparison.launches = 3;
  comparison.margin = 0.02;
  comparison.ratios.tokens_per_s.value = std::exp(log_ratio);
  comparison.ratios.tokens_per_s.low = comparison.ratios.tokens_per_s.high = 1;
  comparison.again.tokens_per_s.value = std::exp(log_again);
  return comparison;
}

Comparison found(double log_ratio, double error, double log_again = 0) {
  auto comparison = seen(log_ratio, log_again);
  find(comparison, grounds(error));
  return comparison;
}

TEST(finding, follows_the_rules_in_their_order) {
  struct Case {
    const char* says;
    double ratio;
    double error;
    double again;
    Finding finding;
  };
  const std::vector<Case> cases{
      {"beyond the interval and the spread of A again", 0.281, 0.1, 0, Finding::faster},
      {"the same on the other side", -0.281, 0.1, 0, Finding::slower},
      {"inside the spread of A again, though beyond its own interval", 0.265, 0.1, 0,
       Finding::cannot_tell},
      {"inside its interval", 0.24, 0.1, 0, Finding::cannot_tell},
      {"0.0097 + 1.99 x 0.005 is under log 1.02 = 0.0198", 0.0097, 0.005, 0, Finding::same},
      {"0.0102 + 1.99 x 0.005 is over it", 0.0102, 0.005, 0, Finding::cannot_tell},
      {"surely more than 0, and surely less than the margin", 0.012, 0.002, 0, Finding::same},
      {"A again is outside its own interval: 0.28 > 2.776 x 0.1", 1, 0.1, 0.28,
       Finding::cannot_tell},
      {"A again is inside it", 1, 0.1, 0.27, Finding::faster}};
  for (const auto& one : cases) {
    const auto comparison = found(one.ratio, one.error, one.again);
    EXPECT_EQ(comparison.finding, one.finding) << one.says;
    EXPECT_EQ(comparison.because.empty(), one.finding != Finding::cannot_tell) << one.says;
  }
}

// The margin is log 1.02 = 0.0198; A again over A is known to 2.776 errors, B over A to 1.99 x
// 0.001.
TEST(finding, is_not_same_where_a_again_differs_from_a_by_more_than_the_margin) {
  const auto with_again = [](double error_of_again) {
    auto comparison = seen(0.001);
    find(comparison, {grounds(0.001).of_b, grounds(error_of_again).of_again, 0.95, true});
    return comparison;
  };
  EXPECT_EQ(with_again(0.0070).finding, Finding::same);
  const auto hidden = with_again(0.0073);
  EXPECT_EQ(hidden.finding, Finding::cannot_tell);
  EXPECT_NE(hidden.because.find("more than the margin of 2 %"), std::string::npos)
      << hidden.because;
}

TEST(finding, spread_of_a_again_is_half_its_interval) {
  EXPECT_NEAR(*found(0, 0.1).again_spread, std::exp(0.2776) - 1, 1e-3);
}

TEST(finding, a_limit_is_kept_or_broken_beyond_interval_and_spread_alone) {
  const auto verdict = [](double log_ratio) {
    auto comparison = seen(log_ratio);
    comparison.limit = 0.03;
    find(comparison, grounds(0.01));
    return comparison.limit_verdict;
  };
  // log 0.97 = -0.03046, 2.776 x 0.01 to each side of it
  EXPECT_EQ(verdict(-0.0583), LimitVerdict::broken);
  EXPECT_EQ(verdict(-0.0581), LimitVerdict::cannot_tell);
  EXPECT_EQ(verdict(-0.0028), LimitVerdict::cannot_tell);
  EXPECT_EQ(verdict(-0.0026), LimitVerdict::kept);
}

TEST(finding, needs_three_launches_an_interval_and_a_run_that_is_one) {
  auto few = seen(1);
  few.launches = 2;
  find(few, {});
  EXPECT_EQ(few.finding, Finding::too_few);
  auto no_interval = seen(1);
  no_interval.ratios.tokens_per_s.low.reset();
  no_interval.ratios.tokens_per_s.reason = "too few: 7 independent prompts";
  find(no_interval, grounds(0.1));
  EXPECT_EQ(no_interval.finding, Finding::too_few);
  EXPECT_EQ(no_interval.because, "too few: 7 independent prompts");
  auto stored = seen(1);
  auto apart = grounds(0.1);
  apart.paired = false;
  find(stored, apart);
  EXPECT_EQ(stored.finding, Finding::unpaired);
  auto without = seen(1);
  without.again.tokens_per_s = unknown("no launch of it was done");
  find(without, {grounds(0.1).of_b, std::nullopt, 0.95, true});
  EXPECT_EQ(without.finding, Finding::cannot_tell);
}

// With many degrees of freedom t is 1.96 and 0.84: the error has to fall to 0.0198 / 2.80, and it
// falls with the root of the launches.
TEST(finding, says_how_many_launches_give_a_difference_of_the_margin_4_chances_in_5) {
  const auto comparison = found(0.005, 0.04);
  ASSERT_TRUE(comparison.launches_needed);
  const double all = 3 * std::pow(0.04 * 2.80 / std::log(1.02), 2);  // 96
  EXPECT_NEAR(*comparison.launches_needed + 3, all, 3);
  EXPECT_LT(*comparison.power, 0.05);
  EXPECT_EQ(found(1, 0.1).launches_needed, std::nullopt);
  EXPECT_EQ(found(1, 0.1).launches_reason, "it is told");
}

/// Launches that hardly differ, and prompts that gain 0.1 or lose it in all of them.
Difference of_prompts() {
  Grid prompts(8, 3);
  for (std::size_t unit = 0; unit < 8; ++unit)
    for (std::size_t launch = 0; launch < 3; ++launch)
      prompts.at(unit, launch) = unit % 2 == 0 ? 0.1 : -0.1;
  return *difference({launches(0.01)}, {prompts}, {});
}

// Prompts alone leave t on 7 degrees of freedom 2.3646 x 0.1 x sqrt(8 / 7) / sqrt(8): log 1.0935.
TEST(finding, says_truly_why_launches_would_not_help) {
  struct Case {
    const char* says;
    Grounds grounds;
    const char* reason;
  };
  const Difference steady = *grounds(0.01).of_b;
  const std::vector<Case> cases{
      {"3 x (0.1 x 2.80 / 0.0198)^2 is 600 launches, and no prompt differs", grounds(0.1),
       "over 200 launches of each arm in all would be needed"},
      {"prompts of B", {of_prompts(), steady}, "what B gains on A that they alone leave 9.3 %"},
      {"prompts of A again", {steady, of_prompts()}, "what A again gains on A that they alone"}};
  for (const auto& one : cases) {
    auto comparison = seen(0.005);
    find(comparison, one.grounds);
    EXPECT_FALSE(comparison.launches_needed) << one.says;
    EXPECT_NE(comparison.launches_reason.find(one.reason), std::string::npos)
        << one.says << ": " << comparison.launches_reason;
  }
}

}  // namespace
