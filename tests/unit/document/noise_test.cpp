#include "document/noise.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

TEST(ToNoise, PoolsStealAndPressureOverRequests) {
  // Every request: 4 ms stolen of 4 s of CPU time, 20 ms waited in 2 s.
  const Noise noise = to_noise(support::sample_trace());
  EXPECT_NEAR(*noise.steal_share.value, 0.001, 1e-12);
  EXPECT_NEAR(*noise.pressure_share.value, 0.01, 1e-12);
}

TEST(ToNoise, NamesTheRequestThatLostMost) {
  auto trace = support::sample_trace();
  trace.launches[6].requests[2].noise = {1.0, 4.0, std::nullopt};
  const Noise noise = to_noise(trace);
  ASSERT_TRUE(noise.worst_request.value);
  EXPECT_EQ(noise.worst_request.value->arm, "dflash-n7");
  EXPECT_EQ(noise.worst_request.value->round, 1);
  EXPECT_EQ(noise.worst_request.value->prompt, "python-1");
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
  EXPECT_NEAR(*to_noise(trace).steal_share.value, 0.001, 1e-12);
}

TEST(ToNoise, IsUnknownWhereTheSystemSaysNothing) {
  auto trace = support::sample_trace();
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) request.noise = {};
  const Noise noise = to_noise(trace);
  EXPECT_FALSE(noise.steal_share.value);
  EXPECT_FALSE(noise.pressure_share.value);
  EXPECT_FALSE(noise.worst_request.value);
  EXPECT_FALSE(noise.pressure_share.reason.empty());
}

}  // namespace
}  // namespace paceline::document
