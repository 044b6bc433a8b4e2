#include "document/noise.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

Noise noise_of(const trace::Trace& trace) { return to_noise(trace, metrics::steadiness_of(trace)); }

TEST(ToNoise, PoolsStealAndPressureOverRequests) {
  // Every request: 4 ms stolen of 4 s of CPU time, 20 ms waited in 2 s.
  const Noise noise = noise_of(support::sample_trace());
  EXPECT_NEAR(*noise.steal_share.value, 0.001, 1e-12);
  EXPECT_NEAR(*noise.pressure_share.value, 0.01, 1e-12);
}

TEST(ToNoise, NamesTheRequestThatLostMost) {
  auto trace = support::sample_trace();
  trace.launches[6].requests[2].noise = {1.0, 4.0, std::nullopt};
  const Noise noise = noise_of(trace);
  ASSERT_TRUE(noise.worst_request.value);
  EXPECT_EQ(noise.worst_request.value->arm, "dflash-n7");
  EXPECT_EQ(noise.worst_request.value->round, 1);
  EXPECT_EQ(noise.worst_request.value->prompt, "python-1");
  EXPECT_EQ(noise.worst_request.value->steal_share, 0.25);
}

TEST(ToNoise, TakesHeldOutLaunchesInByTheirOwnRound) {
  auto trace = support::sample_trace();
  trace.launches.push_back(trace.launches[6]);
  trace.launches.back().held_out = true;
  trace.launches.back().round = trace.header.rounds + 1;
  trace.launches.back().requests[2].noise = {1.0, 4.0, std::nullopt};
  const Noise noise = noise_of(trace);
  EXPECT_EQ(noise.worst_request.value->round, trace.header.rounds + 1);
  EXPECT_EQ(noise.worst_request.value->steal_share, 0.25);
}

TEST(ToNoise, LooksOnlyAtRequestsBehindFigures) {
  auto trace = support::sample_trace();
  const trace::Noise loud = {4.0, 4.0, 2.0};
  trace.launches[0].requests[0].noise = loud;
  trace.launches[0].requests[0].warm_up = true;
  trace.launches[0].requests[1].noise = loud;
  trace.launches[0].requests[1].synced = true;
  trace.launches[0].requests[2].noise = loud;
  trace.launches[0].requests[2].outcome.kind = trace::OutcomeKind::timed_out;
  // Lost with under half of its prompts done: dropped, by the same rule as from the figures.
  trace.launches[1].requests.resize(1);
  trace.launches[1].requests[0].noise = loud;
  trace.launches[1].outcome.kind = trace::OutcomeKind::crashed;
  EXPECT_NEAR(*noise_of(trace).steal_share.value, 0.001, 1e-12);
}

TEST(ToNoise, IsUnknownWhereTheSystemSaysNothing) {
  auto trace = support::sample_trace();
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) request.noise = {};
  const Noise noise = noise_of(trace);
  EXPECT_FALSE(noise.steal_share.value);
  EXPECT_FALSE(noise.pressure_share.value);
  EXPECT_FALSE(noise.worst_request.value);
  EXPECT_FALSE(noise.pressure_share.reason.empty());
}

TEST(ToNoise, NamesTheNeighbourThatTookMostAndHowMuch) {
  auto trace = support::sample_trace();
  double elapsed_s = 0;
  int requests = 0;
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) {
      request.noise.neighbour = trace::Neighbour{++requests % 3 == 0 ? "backup" : "cc1plus", 1.0};
      request.noise.clock_mhz = 2000 + requests;
      request.noise.throttled = 1;
      elapsed_s += request.noise.elapsed_s;
    }
  const Noise noise = noise_of(trace);
  ASSERT_TRUE(noise.neighbour.value);
  EXPECT_EQ(noise.neighbour.value->name, "cc1plus");
  EXPECT_NEAR(noise.neighbour.value->cores, (requests - requests / 3) / elapsed_s, 1e-12);
  ASSERT_TRUE(noise.clock_mhz.value);
  EXPECT_EQ(noise.clock_mhz.value->least, 2001);
  EXPECT_EQ(noise.clock_mhz.value->most, 2000 + requests);
  EXPECT_EQ(noise.throttled.value, requests);
}

TEST(ToNoise, CountsWhatTheRecordedRuleExcludes) {
  auto trace = support::sample_trace();
  EXPECT_FALSE(noise_of(trace).exclude_steal.value);
  trace.header.exclude_steal = 0.05;
  trace.launches[0].requests[0].excluded = true;
  EXPECT_EQ(noise_of(trace).exclude_steal.value, 0.05);
  EXPECT_EQ(noise_of(trace).requests_excluded, 1);
}

}  // namespace
}  // namespace paceline::document
