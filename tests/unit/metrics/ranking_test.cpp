#include "metrics/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using paceline::metrics::Candidate;
using paceline::metrics::Grid;
using paceline::metrics::LaunchVariance;
using paceline::metrics::pooled_launch_variance;
using paceline::metrics::rank;
using paceline::metrics::Ranking;
using paceline::metrics::simultaneous_ratio;
using paceline::metrics::simultaneous_speed;

constexpr std::size_t prompts = 8;
constexpr std::size_t launches = 3;
constexpr double enough = 8;

/// Of a speed whose launches are off by `of_launch` and whose prompts are all alike.
Candidate candidate(const std::string& name, double speed,
                    const std::vector<double>& of_launch = {0, 0, 0}) {
  Grid grid(prompts, of_launch.size());
  for (std::size_t p = 0; p < prompts; ++p)
    for (std::size_t l = 0; l < of_launch.size(); ++l) grid.at(p, l) = of_launch[l];
  return {name, speed, {{1, grid}}, enough};
}

std::vector<bool> set_of(const Ranking& ranking) {
  std::vector<bool> set;
  for (const auto& standing : ranking.standings) set.push_back(standing.in_best_set);
  return set;
}

// Launch means -1 0 1, 1 0 -1 and 0 0 0 (all times a): every candidate and every round has mean 0,
// so that all of 4 a^2 is left, with (3 - 1) x (3 - 1) degrees of freedom.
TEST(PooledLaunchVariance, is_what_candidates_and_rounds_leave_of_the_launches) {
  const double a = 0.01;
  const auto variance = pooled_launch_variance(
      {candidate("x", 1, {-a, 0, a}), candidate("y", 2, {a, 0, -a}), candidate("z", 3)});
  EXPECT_NEAR(variance.variance, 4 * a * a / 4, 1e-15);
  EXPECT_EQ(variance.degrees_of_freedom, 4);
}

TEST(PooledLaunchVariance, leaves_out_what_a_round_did_to_all) {
  const auto variance = pooled_launch_variance(
      {candidate("x", 1, {-0.1, 0, 0.1}), candidate("y", 2, {-0.1, 0, 0.1})});
  EXPECT_NEAR(variance.variance, 0, 1e-15);
}

// Standard error of a difference: sqrt(2 x 0.0003 / 3) = 0.01414. Of two others each is compared at
// 0.95^(1/2) = 97.47 %, one-sided: t with 30 degrees of freedom is 2.0362 (integrated apart from
// this code), so that what is slower by under 2.88 % may be the best, and nothing else.
TEST(Rank, keeps_what_chance_allows_to_be_the_best) {
  const LaunchVariance known{0.0003, 30};
  const double room = 2.03621 * std::sqrt(2 * 0.0003 / 3);
  const auto just_in = std::exp(-(room - 1e-4));
  const auto just_out = std::exp(-(room + 1e-4));
  const auto ranking =
      rank({candidate("best", 1), candidate("in", just_in), candidate("out", just_out)}, known);
  EXPECT_EQ(ranking.reason, "");
  EXPECT_EQ(ranking.best, 0U);
  EXPECT_EQ(set_of(ranking), (std::vector{true, true, false}));
}

TEST(Rank, holds_each_against_the_best_of_the_others) {
  const LaunchVariance known{0.0003, 30};
  const double room = 2.03621 * std::sqrt(2 * 0.0003 / 3);
  const auto ranking =
      rank({candidate("slow", 80), candidate("best", 100), candidate("near", 99)}, known);
  const auto& slow = ranking.standings[0].against_best;
  EXPECT_NEAR(*slow.value, 0.80, 1e-12);
  EXPECT_NEAR(*slow.low, 0.80 * std::exp(-room), 1e-5);
  EXPECT_EQ(*slow.high, 1) << "surely not better than the best of the others";
  const auto& best = ranking.standings[1].against_best;
  EXPECT_NEAR(*best.value, 100 / 99.0, 1e-12);
  EXPECT_NEAR(*best.high, 100 / 99.0 * std::exp(room), 1e-4);
  EXPECT_NEAR(*best.low, 100 / 99.0 * std::exp(-room), 1e-4);
}

TEST(Rank, of_a_winner_that_stands_alone_claims_no_loss) {
  const auto ranking = rank({candidate("best", 100), candidate("slow", 50)}, {0.0001, 30});
  EXPECT_EQ(set_of(ranking), (std::vector{true, false}));
  EXPECT_EQ(*ranking.standings[0].against_best.low, 1);
  EXPECT_EQ(*ranking.standings[1].against_best.high, 1);
}

TEST(Rank, of_equals_keeps_all) {
  const auto ranking = rank({candidate("a", 10), candidate("b", 10), candidate("c", 10)}, {0, 4});
  EXPECT_EQ(set_of(ranking), (std::vector{true, true, true}));
}

TEST(Rank, says_why_there_is_no_set) {
  const LaunchVariance known{0.0001, 4};
  const auto two_launches = rank({candidate("a", 1, {0, 0}), candidate("b", 2, {0, 0})}, known);
  EXPECT_EQ(two_launches.best, 1U);
  EXPECT_TRUE(two_launches.standings.empty());
  EXPECT_NE(two_launches.reason.find("2 launches"), std::string::npos) << two_launches.reason;
  EXPECT_FALSE(rank({candidate("a", 1)}, known).reason.empty());
  auto few = candidate("b", 2);
  few.strata = {{1, Grid(prompts - 1, launches)}};
  EXPECT_NE(rank({few, few}, known).reason.find("too few"), std::string::npos);
}

// Two-sided at 0.95^(1/4) each of four: (1 + 0.98726) / 2 = 0.99363; t with 10 degrees of freedom
// is 3.0270 there.
TEST(SimultaneousRatio, is_wider_the_more_are_looked_at) {
  const auto ratio = simultaneous_ratio(candidate("a", 3), candidate("b", 2), {0.0006, 10}, 4);
  EXPECT_NEAR(*ratio.value, 1.5, 1e-12);
  EXPECT_NEAR(std::log(*ratio.high / 1.5), 3.02704 * std::sqrt(2 * 0.0006 / 3), 1e-5);
  EXPECT_NEAR(std::log(1.5 / *ratio.low), 3.02704 * std::sqrt(2 * 0.0006 / 3), 1e-5);
}

// 2 degrees of freedom: launches alone differ, by 0.01; two-sided at 97.47 % t is 6.1644.
TEST(SimultaneousSpeed, goes_by_its_own_launches) {
  const auto speed = simultaneous_speed(candidate("a", 40, {-0.01, 0, 0.01}), 2);
  EXPECT_NEAR(std::log(*speed.high / 40), 6.16441 * 0.01 / std::sqrt(3.0), 1e-4);
}

}  // namespace
