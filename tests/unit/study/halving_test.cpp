#include "study/halving.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/request_builder.hpp"

namespace paceline::study {
namespace {

using Rungs = std::vector<int>;

TEST(HalvingRungs, halve_to_four_which_go_on_until_they_had_enough_launches) {
  EXPECT_EQ(halving_rungs(32, 3), (Rungs{32, 16, 8, 4}));
  EXPECT_EQ(halving_rungs(25, 3), (Rungs{25, 13, 7, 4}));
  EXPECT_EQ(halving_rungs(6, 5), (Rungs{6, 4, 4, 4, 4}));
  EXPECT_EQ(halving_rungs(3, 3), (Rungs{3, 3, 3}));
}

/// Points a to f, each with a plain arm of its own, in one round; a pass of `ms` a token.
class Halving : public ::testing::Test {
 protected:
  Halving() {
    trace.header.sweep = trace::Sweep{};
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
      const std::string plain = std::string("plain ") + name;
      for (const std::string& arm : {plain, std::string(name)}) {
        options.arms.emplace_back();
        options.arms.back().name = arm;
        options.arms.back().plain = plain;
      }
      trace.header.sweep->points.push_back({name, {name}});
    }
    trace.header.sweep->rungs = {6, 4, 4};
    trace.header.rounds = 3;
    trace.header.arms = options.arms;
  }
  void launch(const std::string& arm, int round, int ms) {
    trace::Launch launch;
    launch.index = static_cast<int>(trace.launches.size());
    launch.round = round;
    launch.arm = arm;
    launch.requests.push_back(tests::RequestBuilder("p").plain(ms).plain(ms).build());
    trace.launches.push_back(std::move(launch));
  }
  std::string selected(int round) const {
    std::string names;
    const auto chosen = halving(options)(trace, round);
    for (std::size_t arm = 0; arm < chosen.size(); ++arm)
      if (chosen[arm] && options.arms[arm].name.size() == 1) names += options.arms[arm].name;
    for (std::size_t arm = 0; arm < chosen.size(); arm += 2)
      EXPECT_EQ(chosen[arm], chosen[arm + 1]) << "a plain arm runs as long as its point";
    return names;
  }

  RunOptions options;
  trace::Trace trace;
};

TEST_F(Halving, begins_with_all) { EXPECT_EQ(selected(0), "abcdef"); }

TEST_F(Halving, leaves_out_the_slowest_that_its_rung_has_no_room_for) {
  const int ms[] = {50, 10, 40, 20, 60, 30};
  for (int i = 0; i < 6; ++i) launch(std::string(1, static_cast<char>('a' + i)), 0, ms[i]);
  EXPECT_EQ(selected(1), "bcdf");
}

TEST_F(Halving, leaves_out_first_what_gave_no_figure) {
  for (const char* name : {"a", "b", "c", "d"}) launch(name, 0, 50);
  EXPECT_EQ(selected(1), "abcd");
}

TEST_F(Halving, takes_back_nobody_and_goes_by_all_rounds_so_far) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) launch(name, 0, 10);
  for (const char* name : {"c", "d", "e", "f"}) launch(name, 1, 90);
  EXPECT_EQ(selected(2), "cdef") << "a and b were faster, and are out";
  trace.header.sweep->rungs = {6, 4, 2};
  launch("c", 1, 1);
  trace.launches.back().round = 1;
  EXPECT_EQ(selected(2).substr(0, 1), "c");
}

}  // namespace
}  // namespace paceline::study
