#include "metrics/comparison.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::Comparison;
using metrics::Finding;

/// One request of ten drafts that take `ms` each and have `accepted` tokens accepted.
trace::Request request(const std::string& id, const std::string& name, int ms, int accepted) {
  tests::RequestBuilder builder(id, name);
  for (int i = 0; i < 10; ++i) builder.draft(ms, 7, accepted);
  return builder.build();
}

/// Three rounds of eight prompts in each class. A takes 20 ms a pass, a millisecond more in the
/// second launch; B 25 ms, and accepts 3 tokens where A accepts 1.
trace::Trace study(const std::vector<std::string>& classes) {
  std::vector<trace::Launch> launches;
  for (int round = 0; round < 3; ++round)
    for (const std::string arm : {"A", "B", "A again"}) {
      std::vector<trace::Request> requests;
      for (const auto& name : classes)
        for (int prompt = 0; prompt < 8; ++prompt)
          requests.push_back(request(std::to_string(prompt), name,
                                     (arm == "B" ? 25 : 20) + (round == 1 ? 1 : 0) + prompt % 2,
                                     arm == "B" ? 3 : 1));
      launches.push_back(tests::launch_of(arm, round, std::move(requests)));
    }
  auto trace = tests::trace_of({"A", "B", "A again"}, std::move(launches));
  trace.header.rounds = 3;
  trace.header.comparison = trace::Comparison{"A", "B", "A again", "", "", 0.02, {}, {}};
  return trace;
}

trace::Mix mix(std::map<std::string, double> shares) {
  trace::Mix result;
  for (const auto& [name, share] : shares) result.classes[name] = {share, {}, {}};
  return result;
}

TEST(comparison, takes_the_ratio_apart_into_passes_and_tokens) {
  const auto found = metrics::compare_arms(study({"code"}), mix({{"code", 1}}));
  ASSERT_EQ(found.size(), 1u);
  const Comparison& one = found[0];
  EXPECT_EQ(one.workload_class, "code");
  EXPECT_EQ(one.launches, 3);
  EXPECT_NEAR(*one.ratios.tokens_per_pass.value, 4.0 / 2, 1e-12);
  // Mean ms of a pass over prompts and launches: 20.5 + 1/3 and 25.5 + 1/3.
  EXPECT_NEAR(*one.ratios.passes_per_s.value, (20.5 + 1.0 / 3) / (25.5 + 1.0 / 3), 1e-12);
  EXPECT_NEAR(*one.ratios.tokens_per_s.value,
              *one.ratios.passes_per_s.value * *one.ratios.tokens_per_pass.value, 1e-12);
  EXPECT_NEAR(*one.again.tokens_per_s.value, 1, 1e-12);
  EXPECT_EQ(one.finding, Finding::faster);
  EXPECT_EQ(one.ratios.tokens_per_s.level, "95 % over prompts and launches");
}

TEST(comparison, weighs_classes_as_the_mix_does_and_puts_them_first) {
  auto trace = study({"code", "prose"});
  // Prose is accepted like A's by B too: there B has passes of 25 and 2 tokens each.
  for (auto& launch : trace.launches)
    for (auto& one : launch.requests)
      if (one.workload_class == "prose" && launch.arm == "B")
        one = request(one.prompt_id, "prose",
                      25 + (launch.round == 1 ? 1 : 0) + (one.prompt_id.back() - '0') % 2, 1);
  const auto found = metrics::compare_arms(trace, mix({{"code", 0.25}, {"prose", 0.75}}));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].workload_class, "");
  const double a = (20.5 + 1.0 / 3) / 2;
  const double b = 0.25 * (25.5 + 1.0 / 3) / 4 + 0.75 * (25.5 + 1.0 / 3) / 2;
  EXPECT_NEAR(*found[0].ratios.tokens_per_s.value, a / b, 1e-12);
  EXPECT_NEAR(*found[0].ratios.tokens_per_pass.value, (1.0 / 2) / (0.25 / 4 + 0.75 / 2), 1e-12);
}

TEST(comparison, of_a_mix_needs_every_class_of_it_measured_and_none_that_loops) {
  const auto of_mix = [](const trace::Trace& trace) {
    const auto found =
        metrics::compare_arms(trace, mix({{"code", 0.5}, {"json", 0}, {"prose", 0.5}}));
    EXPECT_EQ(found.front().workload_class, "");
    EXPECT_EQ(found.back().finding, Finding::faster) << "a class by itself is compared";
    return found.front();
  };
  EXPECT_EQ(of_mix(study({"code", "prose"})).finding, Finding::faster);
  auto one = of_mix(study({"code"}));
  EXPECT_EQ(one.finding, Finding::too_few);
  EXPECT_EQ(one.because, "class prose of the mix was not measured");
  EXPECT_EQ(one.ratios.tokens_per_s.reason, one.because);
  auto looping = study({"code", "prose"});
  for (auto& launch : looping.launches)
    for (auto& request : launch.requests)
      if (launch.arm == "B" && request.workload_class == "code")
        for (auto& emission : request.emissions) emission.tokens.assign(emission.tokens.size(), 7);
  one = of_mix(looping);
  EXPECT_EQ(one.finding, Finding::too_few);
  EXPECT_EQ(one.because, "class code loops: its rates do not compare with the others");
}

TEST(comparison, of_a_mix_of_one_class_comes_first_whatever_else_was_measured) {
  auto trace = study({"code", "prose"});
  trace.header.comparison->fail_if_slower = 0.03;
  for (auto& launch : trace.launches)  // prose: no token more a pass, at 25 ms over 20
    for (auto& one : launch.requests)
      if (one.workload_class == "prose" && launch.arm == "B")
        one = request(one.prompt_id, "prose",
                      25 + (launch.round == 1 ? 1 : 0) + (one.prompt_id.back() - '0') % 2, 1);
  const auto found = metrics::compare_arms(trace, mix({{"code", 0}, {"prose", 1}}));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].workload_class, "prose");
  EXPECT_EQ(found[0].limit_verdict, metrics::LimitVerdict::broken);
  EXPECT_EQ(found[1].limit_verdict, metrics::LimitVerdict::kept);
  const auto unmeasured = metrics::compare_arms(trace, mix({{"json", 1}}));
  ASSERT_EQ(unmeasured.size(), 3u);
  EXPECT_EQ(unmeasured[0].because, "class json of the mix was not measured");
  EXPECT_EQ(unmeasured[0].limit_verdict, metrics::LimitVerdict::cannot_tell);
}

TEST(comparison, has_the_figures_of_every_launch) {
  const auto found = metrics::compare_arms(study({"code"}), mix({{"code", 1}})).front();
  ASSERT_EQ(found.launch_figures.size(), 9u);
  const auto& second = found.launch_figures[1];
  EXPECT_EQ(second.arm, "A");
  EXPECT_EQ(second.round, 1);
  EXPECT_NEAR(second.tokens_per_s, 2 / 0.0215, 1e-9);
  EXPECT_NEAR(*second.passes_per_s, 1 / 0.0215, 1e-9);
  EXPECT_NEAR(*second.tokens_per_pass, 2, 1e-12);
}

TEST(comparison, of_runs_measured_apart_is_unpaired) {
  auto trace = study({"code"});
  trace.header.comparison->again.clear();
  std::erase_if(trace.launches, [](const auto& launch) { return launch.arm == "A again"; });
  const auto found = metrics::compare_arms(trace, mix({{"code", 1}})).front();
  EXPECT_EQ(found.finding, Finding::unpaired);
  EXPECT_TRUE(found.ratios.tokens_per_s.low);
  EXPECT_FALSE(found.again.tokens_per_s.value);
}

TEST(comparison, of_two_launches_or_seven_prompts_is_too_few) {
  auto two = study({"code"});
  std::erase_if(two.launches, [](const auto& launch) { return launch.round == 2; });
  EXPECT_EQ(metrics::compare_arms(two, mix({{"code", 1}})).front().finding, Finding::too_few);
  auto seven = study({"code"});
  for (auto& launch : seven.launches) launch.requests.pop_back();
  EXPECT_EQ(metrics::compare_arms(seven, mix({{"code", 1}})).front().finding, Finding::too_few);
}

TEST(comparison, without_a_launch_of_one_side_says_so) {
  auto trace = study({"code"});
  std::erase_if(trace.launches, [](const auto& launch) { return launch.arm == "B"; });
  const auto found = metrics::compare_arms(trace, mix({{"code", 1}})).front();
  EXPECT_EQ(found.finding, Finding::too_few);
  EXPECT_FALSE(found.ratios.tokens_per_s.value);
  EXPECT_NE(found.because, "");
}

TEST(comparison, is_made_where_it_was_asked_for_alone) {
  auto trace = study({"code"});
  trace.header.comparison.reset();
  EXPECT_TRUE(metrics::compare_arms(trace, mix({{"code", 1}})).empty());
}

}  // namespace
