#include "machine/probe/topology.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace paceline::machine {
namespace {

TEST(Topology, AddsTheLastCachesOfAllSocketsAndListsTheirNodes) {
  const auto found = read_topology(
      "package:2 [numa] l3:2(size=33554432) core:2 l2:1(size=1048576) l1d:1(size=32768) pu:2");
  EXPECT_EQ(found.llc_instances, 4) << "two sockets with two each";
  EXPECT_EQ(found.llc_each_bytes, 32u << 20);
  EXPECT_EQ(found.llc_bytes, 4u * (32u << 20));
  EXPECT_EQ(found.l1d_bytes, 32768u);
  EXPECT_EQ(found.l2_bytes, 1u << 20);
  EXPECT_EQ(found.l3_bytes, 32u << 20);
  EXPECT_EQ(found.l3_cpus, "0-3") << "two cores of two threads";
  ASSERT_EQ(found.nodes.size(), 2u);
  EXPECT_EQ(found.nodes[1].id, 1);
  EXPECT_EQ(found.nodes[1].cpus, (std::vector<int>{8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST(Topology, TakesTheSecondLevelForTheLastWhereThereIsNoThird) {
  const auto found = read_topology("numa:1 l2:3(size=2097152) core:4 pu:1");
  EXPECT_EQ(found.l3_bytes, std::nullopt);
  EXPECT_EQ(found.l3_cpus, std::nullopt);
  EXPECT_EQ(found.llc_instances, 3);
  EXPECT_EQ(found.llc_bytes, 3u * (2u << 20));
}

TEST(Topology, SaysNothingWhereHwlocKnowsNoCacheOrFails) {
  EXPECT_EQ(read_topology("numa:1 core:4 pu:1").llc_bytes, std::nullopt);
  EXPECT_EQ(read_topology("this is no topology").llc_bytes, std::nullopt);
  EXPECT_TRUE(read_topology("this is no topology").nodes.empty());
}

TEST(RunOn, LeavesAThreadThoseProcessorsAndRefusesNone) {
  std::thread([] {
    const auto node = read_topology().nodes.at(0);
    const std::vector<int> first{node.cpus.at(0)};
    if (!run_on(first)) GTEST_SKIP() << "this process may not run on the node's first processor";
    EXPECT_EQ(usable_cpus(), 1);
    EXPECT_EQ(sched_getcpu(), first[0]);
    EXPECT_FALSE(run_on({}));
    EXPECT_FALSE(run_on({100'000})) << "no machine has that one";
  }).join();
  EXPECT_GE(usable_cpus(), 1);
}

}  // namespace
}  // namespace paceline::machine
