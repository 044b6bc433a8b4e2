#include "metrics/steadiness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::steadiness_of;

constexpr trace::Nanoseconds hour = 3'600'000'000'000;

trace::Request later(trace::Request request, trace::Nanoseconds by) {
  request.prefill.began_ns += by;
  request.prefill.ended_ns += by;
  for (auto& pass : request.passes) {
    pass.began_ns += by;
    pass.ended_ns += by;
  }
  for (auto& emission : request.emissions) emission.at_ns += by;
  return request;
}

/// Plain launches so long apart, each with one pass time.
trace::Trace launches(const std::vector<int>& pass_ms, trace::Nanoseconds apart = hour) {
  trace::Trace trace;
  trace.header.arms.resize(1);
  trace.header.arms[0].name = "plain";
  trace.header.rounds = static_cast<int>(pass_ms.size());
  for (int round = 0; round < trace.header.rounds; ++round) {
    trace::Launch launch;
    launch.index = launch.round = round;
    launch.arm = "plain";
    for (int prompt = 0; prompt < 8; ++prompt) {
      tests::RequestBuilder builder("p" + std::to_string(prompt));
      builder.plain(pass_ms[static_cast<std::size_t>(round)]);
      launch.requests.push_back(later(builder.build(), round * apart));
    }
    trace.launches.push_back(std::move(launch));
  }
  return trace;
}

// 99, 100 and 101 ms: deviations of seconds per token -1 %, 0 and 1 %, so that the standard
// deviation is 1 % and speed falls by 1 % an hour; chi squared with 2 degrees of freedom: 0.0506
// and 7.378.
TEST(Steadiness, tells_a_drift_and_the_spread_between_launches) {
  const auto steady = steadiness_of(launches({99, 100, 101}));
  EXPECT_NEAR(*steady.launch_sd.value, 0.01, 1e-9);
  EXPECT_NEAR(*steady.launch_sd.low, 0.01 * std::sqrt(2 / 7.3778), 1e-6);
  EXPECT_NEAR(*steady.launch_sd.high, 0.01 * std::sqrt(2 / 0.050636), 1e-5);
  EXPECT_NEAR(*steady.drift_per_hour.value, std::expm1(-0.01), 1e-9);
  EXPECT_NEAR(*steady.drift_per_hour.high, *steady.drift_per_hour.value, 1e-9) << "a straight line";
}

// -1 %, 2 %, -1 %: no slope; what is left is 0.06 %^2 on 1 degree of freedom over sum t^2 = 2:
// sqrt(0.0006 / 2), times 12.706.
TEST(Steadiness, gives_a_drift_no_more_certainty_than_its_launches) {
  const auto steady = steadiness_of(launches({99, 102, 99}));
  EXPECT_NEAR(*steady.drift_per_hour.value, 0, 1e-9);
  EXPECT_NEAR(std::log1p(*steady.drift_per_hour.high), 12.7062 * std::sqrt(0.0006 / 2),
              1e-3 * 0.22);
}

TEST(Steadiness, takes_no_drift_of_minutes_on_to_an_hour) {
  const auto drift_of = [](int minutes) {
    return steadiness_of(launches({99, 100, 101}, hour / 60 * minutes)).drift_per_hour;
  };
  EXPECT_FALSE(drift_of(4).value);
  EXPECT_NE(drift_of(4).reason.find("10 minutes apart"), std::string::npos);
  EXPECT_NEAR(*drift_of(6).value, std::expm1(-0.1), 1e-9);
}

// Held-out launches on other prompts take three times as long, which is no noise.
TEST(Steadiness, counts_held_out_launches_around_their_own_mean) {
  auto trace = launches({99, 100, 101, 299, 302, 299});
  trace.header.sweep.emplace();
  trace.header.sweep->held_out_rounds = trace.header.rounds = 3;
  for (std::size_t i = 3; i < 6; ++i) trace.launches[i].held_out = true;
  // Squares of 1, 0 and 1 %, and of 1/300, 2/300 and 1/300, on 4 degrees of freedom.
  EXPECT_NEAR(*steadiness_of(trace).launch_sd.value, std::sqrt((2e-4 + 6.0 / 9e4) / 4), 1e-6);
}

TEST(Steadiness, says_nothing_of_too_few_launches) {
  EXPECT_FALSE(steadiness_of(launches({99, 100})).drift_per_hour.value);
  EXPECT_TRUE(steadiness_of(launches({99, 100})).launch_sd.value);
  EXPECT_FALSE(steadiness_of(launches({99})).launch_sd.value);
}

}  // namespace
