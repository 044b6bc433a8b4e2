#include "metrics/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using paceline::metrics::Grid;
using paceline::metrics::over_launches;
using paceline::metrics::Scale;
using paceline::metrics::spread;
using paceline::metrics::Stratum;
using paceline::metrics::with_interval;

constexpr double t_7 = 2.364624;  // two-sided 95 % points of Student's t, from tables
constexpr double t_2 = 4.302653;
constexpr double enough = 100;

/// Two units in three launches: units differ by 2a, launches by b, noise by c, all orthogonal, so
/// that MS_P = 6 a^2, MS_L = 2 b^2 and MS_E = 2 c^2 by hand.
Grid crossed(double a, double b, double c) {
  Grid grid(2, 3);
  const double launch[] = {-1, 0, 1};
  const double noise[] = {1, 0, -1};
  for (std::size_t l = 0; l < 3; ++l) {
    grid.at(0, l) = -a + b * launch[l] + c * noise[l];
    grid.at(1, l) = a + b * launch[l] - c * noise[l];
  }
  return grid;
}

/// `units` values +-d in turn, the same in every launch.
Grid alternating(std::size_t units, std::size_t launches, double d) {
  Grid grid(units, launches);
  for (std::size_t u = 0; u < units; ++u)
    for (std::size_t l = 0; l < launches; ++l) grid.at(u, l) = u % 2 == 0 ? d : -d;
  return grid;
}

TEST(interval, variance_is_units_plus_launches_less_error) {
  // MS_P 6, MS_L 18, MS_E 0.5 with 1, 2 and 2 degrees of freedom.
  const auto result = spread({{1, crossed(1, 3, 0.5)}});
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->standard_error, std::sqrt(23.5 / 6), 1e-12);
  EXPECT_NEAR(result->degrees_of_freedom, 23.5 * 23.5 / (36 + 324 / 2.0 + 0.25 / 2), 1e-9);
}

TEST(interval, launches_that_differ_by_less_than_the_error_count_as_the_error) {
  // MS_P 6, MS_L 0, MS_E 0.5: (6 + 0.5 - 0.5) / 6, known as well as MS_P alone.
  const auto result = spread({{1, crossed(1, 0, 0.5)}});
  EXPECT_NEAR(result->standard_error, 1, 1e-12);
  EXPECT_NEAR(result->degrees_of_freedom, 1, 1e-9);
}

TEST(interval, units_that_differ_by_less_than_the_error_count_as_the_error) {
  const auto result = spread({{1, crossed(0, 3, 0.5)}});
  EXPECT_NEAR(result->standard_error, std::sqrt(18 / 6.0), 1e-12);
  EXPECT_NEAR(result->degrees_of_freedom, 324 / (0.25 + 162 + 0.125), 1e-9);
}

TEST(interval, noise_alone_leaves_the_error) {
  const auto result = spread({{1, crossed(0, 0, 0.5)}});
  EXPECT_NEAR(result->standard_error, std::sqrt(0.5 / 6), 1e-12);
  EXPECT_NEAR(result->degrees_of_freedom, 1, 1e-9);
}

// Holds a fault: launches that agreed by chance were taken for known, with the error's degrees of
// freedom, and tokens/s came out tighter than passes/s.
TEST(interval, launches_that_agree_by_chance_keep_their_few_degrees_of_freedom) {
  // Ten units alike; noise of +-1 in launches 0 and 2 that alternates between units: MS_P 0, MS_L
  // 0, MS_E = 20 / 18. Variance MS_E / 30; 1 / (1/9 + 1/2 + 1/18) = 1.5, at least 2 for 3 launches.
  Grid grid(10, 3);
  for (std::size_t u = 0; u < 10; ++u) {
    grid.at(u, 0) = u % 2 == 0 ? 1 : -1;
    grid.at(u, 2) = -grid.at(u, 0);
  }
  const auto result = spread({{1, grid}});
  EXPECT_NEAR(result->standard_error, std::sqrt(20.0 / 18 / 30), 1e-12);
  EXPECT_NEAR(result->degrees_of_freedom, 2, 1e-12);
}

TEST(interval, a_mix_of_two_classes_adds_its_prompts_and_shares_its_launches) {
  // Weights 1/4 and 3/4 of grids (1, 3, 0.5) and (2, 3, 0.5). Launch means are (-3, 0, 3) in both,
  // so the figure's are too: variance 9. Prompts: w^2 (MS_P - MS_E) / 6.
  const auto result = spread({{0.25, crossed(1, 3, 0.5)}, {0.75, crossed(2, 3, 0.5)}});
  const double prompts = (0.0625 * (6 - 0.5) + 0.5625 * (24 - 0.5)) / 6;
  EXPECT_NEAR(result->standard_error, std::sqrt(prompts + 9 / 3.0), 1e-12);
}

TEST(interval, launch_effects_that_cancel_in_a_mix_do_not_widen_it) {
  const auto result = spread({{0.5, crossed(1, 3, 0.5)}, {0.5, crossed(1, -3, 0.5)}});
  // Launch variance falls to its floor, 2 * 0.25 * MS_E / 2 over 3 launches.
  const double prompts = 2 * 0.25 * (6 - 0.5) / 6;
  EXPECT_NEAR(result->standard_error, std::sqrt(prompts + 2 * 0.25 * 0.5 / 2 / 3), 1e-12);
}

TEST(interval, launches_of_a_mix_count_as_such_from_its_own_noise_on) {
  // Launch variance 0.18 lies over the noise in the figure's launch means, 2 * 0.25 * 0.5 / 2.
  const double launch = std::sqrt(0.18);
  const auto result = spread({{0.5, crossed(1, launch, 0.5)}, {0.5, crossed(1, launch, 0.5)}});
  const double prompts = 2 * 0.25 * (6 - 0.5) / 6;
  EXPECT_NEAR(result->standard_error, std::sqrt(prompts + 0.18 / 3), 1e-12);
}

TEST(interval, degrees_of_freedom_do_not_fall_below_those_of_the_fewest_units_or_launches) {
  // MS_P 0.6, MS_L 0.6, MS_E 0.5: Satterthwaite alone gives 0.49 / (0.36 + 0.18 + 0.125) = 0.74.
  const auto result = spread({{1, crossed(std::sqrt(0.1), std::sqrt(0.3), 0.5)}});
  EXPECT_NEAR(result->standard_error, std::sqrt(0.7 / 6), 1e-12);
  EXPECT_NEAR(result->degrees_of_freedom, 1, 1e-12);
}

TEST(interval, two_launches_are_taken_as_given) {
  Grid grid(2, 2);
  grid.at(0, 0) = -3;
  grid.at(0, 1) = 1;
  grid.at(1, 0) = 0;
  grid.at(1, 1) = 4;  // unit means -1 and 2: variance 4.5, over two units
  const auto result = spread({{1, grid}});
  EXPECT_NEAR(result->standard_error, 1.5, 1e-12);
  EXPECT_NEAR(result->degrees_of_freedom, 1, 1e-12);
}

TEST(interval, a_single_unit_no_launch_or_unequal_launches_have_no_spread) {
  EXPECT_FALSE(spread({}));
  EXPECT_FALSE(spread({{1, Grid(1, 3)}}));
  EXPECT_FALSE(spread({{1, Grid(2, 0)}}));
  EXPECT_FALSE(spread({{1, Grid(2, 3)}, {1, Grid(2, 4)}}));
}

TEST(interval, a_positive_figure_is_symmetric_on_the_log) {
  // Variance of the mean: (8 d^2 / 7) / 8.
  const auto result = with_interval(20, Scale::log, {{1, alternating(8, 1, 0.1)}}, enough);
  const double half = t_7 * 0.1 / std::sqrt(7.0);
  EXPECT_NEAR(*result.low, 20 * std::exp(-half), 1e-5);
  EXPECT_NEAR(*result.high, 20 * std::exp(half), 1e-5);
  EXPECT_EQ(result.level, "95 % within this launch");
  EXPECT_EQ(result.n, 8);
  EXPECT_EQ(result.reason, "");
}

TEST(interval, a_proportion_is_symmetric_on_the_logit) {
  const auto result = with_interval(0.8, Scale::logit, {{1, alternating(8, 1, 0.1)}}, enough);
  const double half = t_7 * 0.1 / std::sqrt(7.0) / 0.2;
  EXPECT_NEAR(std::log(*result.low / (1 - *result.low)), std::log(4.0) - half, 1e-5);
  EXPECT_NEAR(std::log(*result.high / (1 - *result.high)), std::log(4.0) + half, 1e-5);
}

TEST(interval, two_launches_say_within_this_launch_and_three_do_not) {
  const auto two = with_interval(1, Scale::log, {{1, alternating(8, 2, 0.1)}}, enough);
  const auto three = with_interval(1, Scale::log, {{1, alternating(8, 3, 0.1)}}, enough);
  EXPECT_EQ(two.level, "95 % within this launch");
  EXPECT_EQ(three.level, "95 % over prompts and launches");
}

TEST(interval, seven_families_are_too_few_and_eight_are_not) {
  const auto seven = with_interval(1, Scale::log, {{1, alternating(7, 3, 0.1)}}, enough);
  EXPECT_TRUE(seven.value);
  EXPECT_FALSE(seven.low);
  EXPECT_EQ(seven.reason, "too few: 7 independent prompts, an interval needs 8");
  EXPECT_TRUE(with_interval(1, Scale::log, {{1, alternating(8, 3, 0.1)}}, enough).low);
}

TEST(interval, eight_prompts_worth_under_six_are_too_few) {
  const std::vector<Stratum> strata{{1, alternating(8, 3, 0.1)}};
  EXPECT_TRUE(with_interval(1, Scale::log, strata, 6).low);
  const auto uneven = with_interval(1, Scale::log, strata, 5.9);
  EXPECT_FALSE(uneven.low);
  EXPECT_NE(uneven.reason.find("too few: the prompts are worth 5.9"), std::string::npos);
}

TEST(interval, a_proportion_of_0_or_1_and_figures_without_spread_have_a_reason_instead) {
  const std::vector<Stratum> strata{{1, alternating(8, 3, 0)}};
  EXPECT_EQ(with_interval(1, Scale::logit, strata, enough).reason,
            "always 1: no spread to make an interval from");
  EXPECT_EQ(with_interval(0, Scale::logit, strata, enough).reason,
            "always 0: no spread to make an interval from");
  const auto still = with_interval(7, Scale::log, strata, enough);
  EXPECT_EQ(*still.value, 7);
  EXPECT_FALSE(still.low);
  EXPECT_NE(still.reason.find("no spread between prompts"), std::string::npos);
}

TEST(interval, one_too_wide_to_be_written_is_left_out) {
  const auto wide = with_interval(1, Scale::log, {{1, alternating(8, 1, 5000)}}, enough);
  EXPECT_TRUE(wide.value);
  EXPECT_FALSE(wide.low);
  EXPECT_FALSE(wide.high);
  EXPECT_EQ(wide.reason, "the interval is too wide to be written");
}

TEST(interval, launch_figures_are_averaged_on_the_log_with_t_over_launches) {
  // Logs 0, 1, 2 (times ln 2): mean 2, variance ln2^2 over three launches.
  const auto result = over_launches({1, 2, 4});
  EXPECT_NEAR(*result.value, 2, 1e-12);
  const double half = t_2 * std::log(2.0) / std::sqrt(3.0);
  EXPECT_NEAR(*result.low, 2 * std::exp(-half), 1e-5);
  EXPECT_NEAR(*result.high, 2 * std::exp(half), 1e-4);
  EXPECT_EQ(result.n, 3);
}

TEST(interval, launch_figures_of_two_launches_have_no_interval_and_of_none_no_value) {
  const auto two = over_launches({1, 4});
  EXPECT_NEAR(*two.value, 2, 1e-12);
  EXPECT_FALSE(two.low);
  EXPECT_EQ(two.reason, "too few: 2 launches, an interval needs 3");
  EXPECT_FALSE(over_launches({}).value);
  EXPECT_FALSE(over_launches({1, 0, 2}).value);
}

}  // namespace
