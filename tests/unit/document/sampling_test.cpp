#include "document/sampling.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

std::vector<std::string> unrequested(const trace::Trace& trace) {
  std::vector<std::string> names;
  for (const auto& parameter : to_sampling(trace).not_requested)
    names.push_back(parameter.parameter);
  return names;
}

trace::EffectiveSampling& in_force(trace::Trace& trace) {
  return trace.launches[0].facts->sampling;
}

using Names = std::vector<std::string>;

TEST(ToSampling, ListsFiltersThatNobodyAskedFor) {
  const auto sampling = to_sampling(support::sample_trace());
  ASSERT_EQ(sampling.not_requested.size(), 3u);
  EXPECT_EQ(sampling.not_requested[0].parameter, "top_k");
  EXPECT_EQ(sampling.not_requested[0].value, 40);
  EXPECT_EQ(sampling.not_requested[1].parameter, "top_p");
  EXPECT_EQ(sampling.not_requested[1].value, 0.95);
  EXPECT_EQ(sampling.not_requested[2].parameter, "min_p");
  EXPECT_EQ(sampling.requested.temp, 0.7);
}

TEST(ToSampling, LeavesOutWhatWasAskedFor) {
  auto trace = support::sample_trace();
  trace.header.arms[0].sampling.top_k = 40;
  trace.header.arms[0].sampling.min_p = 0.05;
  EXPECT_EQ(unrequested(trace), Names{"top_p"});
}

TEST(ToSampling, LeavesOutWhatDoesNothing) {
  auto trace = support::sample_trace();
  in_force(trace) = {0.7, 0, 1.0, 0.0, 1.0, -1.0, 0.0, 1.0, 64, 0.0, {}};
  EXPECT_EQ(unrequested(trace), Names{});
}

TEST(ToSampling, ListsATemperatureThatNobodyAskedFor) {
  auto trace = support::sample_trace();
  trace.header.arms[0].sampling = {};
  in_force(trace) = {0.8, 0, 1.0, 0.0, 1.0, -1.0, 0.0, 1.0, 64, 0.0, {}};
  EXPECT_EQ(unrequested(trace), Names{"temp"});
  in_force(trace).temp = 1;
  EXPECT_EQ(unrequested(trace), Names{}) << "a temperature of one reshapes nothing";
}

TEST(ToSampling, KnowsThatFiltersWhichKeepTheBestTokenDoNothingToGreedyText) {
  auto trace = support::sample_trace();
  trace.header.arms[0].sampling.temp = 0;
  in_force(trace).temp = 0;
  EXPECT_EQ(unrequested(trace), Names{});
  in_force(trace).penalty_repeat = 1.1;
  in_force(trace).dry_multiplier = 0.8;
  in_force(trace).xtc_probability = 0.1;
  EXPECT_EQ(unrequested(trace), (Names{"xtc_probability", "penalty_repeat", "dry_multiplier"}));
}

TEST(ToSampling, KnowsThatAPenaltyOverNoTokensDoesNothing) {
  auto trace = support::sample_trace();
  in_force(trace).penalty_repeat = 1.1;
  in_force(trace).penalty_last_n = 0;
  EXPECT_EQ(unrequested(trace), (Names{"top_k", "top_p", "min_p"}));
}

TEST(ToSampling, IsUnknownWhenNoLaunchOpened) {
  auto trace = support::sample_trace();
  trace.launches.clear();
  const auto sampling = to_sampling(trace);
  EXPECT_FALSE(sampling.effective.value);
  EXPECT_FALSE(sampling.effective.reason.empty());
  EXPECT_TRUE(sampling.not_requested.empty());
}

}  // namespace
}  // namespace paceline::document
