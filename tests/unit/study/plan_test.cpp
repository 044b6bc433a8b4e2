#include "study/plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace paceline::study {
namespace {

RunOptions options_with(std::size_t arms, int rounds, std::size_t prompts) {
  RunOptions options;
  options.arms.resize(arms);
  options.rounds = rounds;
  options.prompts.measured.resize(prompts);
  return options;
}

TEST(Plan, launches_every_arm_once_in_every_round) {
  const auto launches = plan(options_with(4, 3, 5));
  ASSERT_EQ(launches.size(), 12u);
  for (int round = 0; round < 3; ++round) {
    std::set<std::size_t> arms;
    for (const auto& launch : launches)
      if (launch.round == round) arms.insert(launch.arm);
    EXPECT_EQ(arms.size(), 4u);
  }
}

TEST(Plan, gives_every_arm_every_place_equally_often) {
  const std::size_t arms = 4;
  const auto launches = plan(options_with(arms, 8, 1));
  std::map<std::pair<std::size_t, std::size_t>, int> times;
  for (std::size_t i = 0; i < launches.size(); ++i) ++times[{launches[i].arm, i % arms}];
  EXPECT_EQ(times.size(), arms * arms);
  for (const auto& [arm_and_place, count] : times) EXPECT_EQ(count, 2);
}

TEST(Plan, never_gives_an_arm_the_same_place_twice_while_others_are_left) {
  const auto launches = plan(options_with(4, 3, 1));
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (std::size_t i = 0; i < launches.size(); ++i)
    EXPECT_TRUE(seen.insert({launches[i].arm, i % 4}).second);
}

TEST(Plan, lets_every_arm_follow_every_other_equally_often) {
  for (const std::size_t arms : {2u, 3u, 4u, 5u}) {
    const int rounds = static_cast<int>(arms % 2 == 1 ? 2 * arms : arms);
    const auto launches = plan(options_with(arms, rounds, 1));
    std::map<std::pair<std::size_t, std::size_t>, int> follows;
    for (std::size_t i = 1; i < launches.size(); ++i)
      if (i % arms != 0) ++follows[{launches[i - 1].arm, launches[i].arm}];
    EXPECT_EQ(follows.size(), arms * (arms - 1));
    for (const auto& [pair, count] : follows) EXPECT_EQ(count, arms % 2 == 1 ? 2 : 1);
  }
}

TEST(Plan, shuffles_the_prompts_anew_each_round_and_alike_for_its_arms) {
  const auto launches = plan(options_with(2, 3, 20));
  for (const auto& launch : launches)
    EXPECT_EQ(std::set<std::size_t>(launch.prompts.begin(), launch.prompts.end()).size(), 20u);
  EXPECT_EQ(launches[0].prompts, launches[1].prompts);
  EXPECT_NE(launches[0].prompts, launches[2].prompts);
}

TEST(Plan, follows_from_its_seed) {
  auto options = options_with(4, 3, 20);
  options.seed = 5;
  const auto first = plan(options);
  const auto again = plan(options);
  options.seed = 6;
  const auto other = plan(options);
  bool all_same = true;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].arm, again[i].arm);
    EXPECT_EQ(first[i].prompts, again[i].prompts);
    all_same &= first[i].arm == other[i].arm && first[i].prompts == other[i].prompts;
  }
  EXPECT_FALSE(all_same);
}

TEST(Plan, adds_one_synced_launch_an_arm_for_the_phases) {
  auto options = options_with(2, 3, 1);
  options.phases = true;
  const auto launches = plan(options);
  ASSERT_EQ(launches.size(), 8u);
  EXPECT_EQ(std::count_if(launches.begin(), launches.end(),
                          [](const PlannedLaunch& launch) { return launch.synced; }),
            2);
  EXPECT_TRUE(launches[6].synced && launches[7].synced) << "after the headline launches";
}

TEST(RequestSeed, differs_between_prompts_and_rounds_and_not_between_arms) {
  EXPECT_NE(request_seed(1, "a", 0), request_seed(1, "b", 0));
  EXPECT_NE(request_seed(1, "a", 0), request_seed(1, "a", 1));
  EXPECT_NE(request_seed(1, "a", 0), request_seed(2, "a", 0));
  EXPECT_EQ(request_seed(1, "a", 0), request_seed(1, "a", 0));
}

}  // namespace
}  // namespace paceline::study
