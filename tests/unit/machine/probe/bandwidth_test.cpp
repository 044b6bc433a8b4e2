#include "machine/probe/bandwidth.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "machine/probe/kernels.hpp"
#include "machine/probe/threads.hpp"

namespace paceline::machine {
namespace {

constexpr std::uint64_t mib = 1u << 20;

TEST(BandwidthProbe, ReadsEveryByteThatItCounts) {
  for (const int threads : {1, 2, 3}) {
    auto probe = BandwidthProbe::make({.threads = threads, .bytes = 3 * mib});
    ASSERT_TRUE(probe);
    // Three threads have parts of whole blocks of 256 bytes: one in 3 MiB is nobody's at most.
    EXPECT_GT(probe->bytes(), 3 * mib - 3 * 256u);
    ASSERT_TRUE(probe->samples(0));
    const std::uint64_t words = probe->bytes() / 8;
    EXPECT_EQ(probe->checksum(), words * (words - 1) / 2) << "0 + 1 + .. + (words - 1)";
  }
}

TEST(BandwidthProbe, WritesEveryResultOfTheTriadThatItCounts) {
  for (const int threads : {1, 2}) {
    auto probe =
        BandwidthProbe::make({.threads = threads, .bytes = 3 * mib, .access = Access::triad});
    ASSERT_TRUE(probe);
    EXPECT_EQ(probe->checksum(), 0u) << "nothing was computed yet";
    ASSERT_TRUE(probe->samples(0));
    const std::uint64_t words = probe->bytes() / 8 / 3;
    EXPECT_EQ(words, mib / 8) << "the bytes of three arrays are counted";
    EXPECT_EQ(probe->checksum(), 2 * words * (words - 1)) << "i + 3 i, over all i";
  }
}

TEST(BandwidthProbe, GivesAsManySamplesAsAskedForAtLeast) {
  auto probe = BandwidthProbe::make({.threads = 2, .bytes = mib});
  ASSERT_TRUE(probe);
  const auto samples = probe->samples(0);
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->size(), fewest_samples);
  for (const double sample : *samples) EXPECT_GT(sample, 0);
}

TEST(BandwidthProbe, SaysThatThreadsCannotStayOnAProcessorThatIsNotThere) {
  const auto probe = BandwidthProbe::make({.threads = 2, .bytes = mib, .cpus = {100'000}});
  ASSERT_FALSE(probe);
  EXPECT_NE(probe.error().message.find("bound"), std::string::npos);
}

TEST(Kernels, SumAnyWholeNumberOfBlocksModulo2To64) {
  auto buffer = Buffer::make(mib, Pages::small);
  ASSERT_TRUE(buffer);
  for (std::size_t count = block_words; count <= 10 * block_words; count += block_words) {
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      buffer->words()[i] = 0x9E3779B97F4A7C15u * (i + 1);
      expected += buffer->words()[i];
    }
    EXPECT_EQ(kernels().sum(buffer->words(), count), expected);
  }
}

TEST(InTurns, RunsEveryThreadOnceATurnAndAsksBetweenTurns) {
  std::atomic<int> runs = 0;
  std::atomic<int> numbers = 0;
  int asked = 0;
  std::vector<int> seen;
  const auto again = [&] {
    seen.push_back(runs);
    return asked++ < 4;
  };
  ASSERT_TRUE(in_turns(3, {}, again, [&](int thread) {
    ++runs;
    numbers += thread;
  }));
  EXPECT_EQ(seen, (std::vector<int>{0, 3, 6, 9, 12}));
  EXPECT_EQ(numbers, 4 * (0 + 1 + 2));
}

TEST(InTurns, TakesNoTurnWhereAThreadCannotStayOnItsProcessors) {
  std::atomic<int> runs = 0;
  EXPECT_FALSE(in_turns(
      2, {100'000}, [&] { return runs < 100; }, [&](int) { ++runs; }));
  EXPECT_EQ(runs, 0);
}

Topology with_caches(std::uint64_t each, int instances) {
  Topology topology;
  topology.llc_each_bytes = each;
  topology.llc_instances = instances;
  topology.llc_bytes = each * static_cast<std::uint64_t>(instances);
  return topology;
}

TEST(EnoughBytes, AreEightTimesTheCachesThatTheThreadsCanFill) {
  const auto topology = with_caches(96 * mib, 4);
  EXPECT_EQ(enough_bytes(topology, 1, std::uint64_t{1} << 40), 8 * 96 * mib);
  EXPECT_EQ(enough_bytes(topology, 3, std::uint64_t{1} << 40), 8 * 3 * 96 * mib);
  EXPECT_EQ(enough_bytes(topology, 64, std::uint64_t{1} << 40), 8 * 4 * 96 * mib);
}

TEST(EnoughBytes, AreAtLeast256MiBAndAtMostAQuarterOfTheMemory) {
  EXPECT_EQ(enough_bytes(with_caches(8 * mib, 1), 4, std::uint64_t{1} << 40), 256 * mib);
  EXPECT_EQ(enough_bytes(Topology{}, 4, std::uint64_t{1} << 40), 256 * mib);
  EXPECT_EQ(enough_bytes(with_caches(96 * mib, 4), 4, 400 * mib), 100 * mib);
}

}  // namespace
}  // namespace paceline::machine
