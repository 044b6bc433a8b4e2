#include "document/sampling.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

using trace::Origin;
using Names = std::vector<std::string>;

Names unrequested(const trace::Trace& trace) {
  Names names;
  for (const auto& setting : to_sampling(trace).not_requested) names.push_back(setting.parameter);
  return names;
}

trace::EffectiveSampling& in_force(trace::Trace& trace) {
  return trace.launches[0].facts->sampling;
}

void set(trace::Trace& trace, const std::string& name, double value, Origin origin) {
  for (auto& setting : in_force(trace).settings)
    if (setting.name == name) setting = {name, value, origin};
}

TEST(ToSampling, ListsFiltersThatNobodyAskedForWithWhoDecidedThem) {
  auto trace = support::sample_trace();
  set(trace, "top_p", 0.9, Origin::gguf);
  const auto sampling = to_sampling(trace);
  ASSERT_EQ(sampling.not_requested.size(), 3u);
  EXPECT_EQ(sampling.not_requested[0].parameter, "top_k");
  EXPECT_EQ(sampling.not_requested[0].value, 40);
  EXPECT_EQ(sampling.not_requested[0].origin, "library");
  EXPECT_EQ(sampling.not_requested[1].parameter, "top_p");
  EXPECT_EQ(sampling.not_requested[1].value, 0.9);
  EXPECT_EQ(sampling.not_requested[1].origin, "gguf");
  EXPECT_EQ(sampling.not_requested[2].parameter, "min_p");
  EXPECT_EQ(sampling.not_requested[2].value, 0.05);
}

TEST(ToSampling, SaysWhatTheUserAskedForAndOnlyThat) {
  auto trace = support::sample_trace();
  trace.header.arms[0].sampling.tool_temp = 0.7;
  trace.header.arms[0].sampling.penalty_last_n = 32;
  trace.header.arms[0].sampling.samplers = "top_k;temperature";
  const auto requested = to_sampling(trace).requested;
  ASSERT_EQ(requested.settings.size(), 2u);
  EXPECT_EQ(requested.settings[0].parameter, "temp");
  EXPECT_EQ(requested.settings[0].value, 0.7);
  EXPECT_EQ(requested.settings[1].parameter, "penalty_last_n");
  EXPECT_EQ(requested.settings[1].value, 32);
  EXPECT_EQ(requested.samplers, "top_k;temperature");
}

TEST(ToSampling, SaysEverySettingInForceWithItsOrigin) {
  auto trace = support::sample_trace();
  in_force(trace).chain_origin = Origin::gguf;
  in_force(trace).unread = {"general.sampling.min_p is no number"};
  const auto effective = *to_sampling(trace).effective.value;
  ASSERT_EQ(effective.settings.size(), in_force(trace).settings.size());
  EXPECT_EQ(effective.settings[0].parameter, "temp");
  EXPECT_EQ(effective.settings[0].origin, "user");
  EXPECT_EQ(effective.chain, in_force(trace).chain);
  EXPECT_EQ(effective.chain_origin, "gguf");
  EXPECT_EQ(effective.unread, in_force(trace).unread);
}

TEST(ToSampling, LeavesOutWhatTheUserDecidedButNotWhatThisToolDid) {
  auto trace = support::sample_trace();
  set(trace, "temp", 0.7, Origin::tool);
  set(trace, "top_k", 40, Origin::user);
  set(trace, "min_p", 0.05, Origin::user);
  EXPECT_EQ(unrequested(trace), (Names{"temp", "top_p"}));
}

TEST(ToSampling, LeavesOutWhatIsNotInTheChain) {
  auto trace = support::sample_trace();
  in_force(trace).chain = {"top-k", "temp-ext", "dist"};
  EXPECT_EQ(unrequested(trace), Names{"top_k"});
  in_force(trace).chain = {"dist"};
  EXPECT_EQ(unrequested(trace), Names{});
}

TEST(ToSampling, ListsATemperatureThatNobodyAskedFor) {
  auto trace = support::sample_trace();
  in_force(trace).chain = {"temp-ext", "dist"};
  set(trace, "temp", 0.8, Origin::library);
  EXPECT_EQ(unrequested(trace), Names{"temp"});
  set(trace, "temp", 1, Origin::library);
  EXPECT_EQ(unrequested(trace), Names{}) << "a temperature of one reshapes nothing";
}

TEST(ToSampling, KnowsThatFiltersWhichKeepTheBestTokenDoNothingToGreedyText) {
  auto trace = support::sample_trace();
  set(trace, "temp", 0, Origin::user);
  EXPECT_EQ(unrequested(trace), Names{});
  in_force(trace).chain = {"penalties", "dry", "top-k", "min-p", "xtc", "temp-ext", "dist"};
  set(trace, "penalty_repeat", 1.1, Origin::gguf);
  EXPECT_EQ(unrequested(trace),
            (Names{"xtc_probability", "penalty_last_n", "penalty_repeat", "dry_multiplier"}));
}

TEST(ToSampling, KnowsWhichPenaltyOfThemIsOne) {
  auto trace = support::sample_trace();
  in_force(trace).chain = {"penalties", "dist"};
  in_force(trace).settings.push_back({"penalty_freq", 0, Origin::library});
  in_force(trace).settings.push_back({"penalty_present", 0.5, Origin::gguf});
  EXPECT_EQ(unrequested(trace), (Names{"penalty_last_n", "penalty_present"}));
}

TEST(ToSampling, KnowsMirostatByBothNames) {
  auto trace = support::sample_trace();
  in_force(trace).chain = {"temp", "mirostat-v2"};
  in_force(trace).settings.push_back({"mirostat", 2, Origin::gguf});
  EXPECT_EQ(unrequested(trace), Names{"mirostat"});
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
