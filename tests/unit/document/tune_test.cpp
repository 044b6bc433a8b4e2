#include "document/tune.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/tune.hpp"
#include "support/request_builder.hpp"

namespace paceline::document {
namespace {

/// Nine prompts of each of two classes, one token a pass. Code takes 20 ms with plain and 10 with
/// "d", prose 40 with both; every other prompt and the second launch a millisecond more, ninth
/// prompts a second.
trace::Launch launch(const std::string& arm, int round) {
  std::vector<trace::Request> requests;
  for (const std::string name : {"code", "prose"})
    for (int prompt = 0; prompt < 9; ++prompt) {
      const int ms = name == "prose" ? 40 : arm == "plain" ? 20 : 10;
      tests::RequestBuilder builder(name + std::to_string(prompt), name);
      for (int pass = 0; pass < 4; ++pass)
        builder.plain(prompt == 8 ? 1000 : ms + (round == 1 ? 1 : 0) + prompt % 2);
      requests.push_back(builder.build());
    }
  return tests::launch_of(arm, round, std::move(requests));
}

TEST(Tune, measured_speedup_of_the_mix_is_of_the_prompts_that_both_arms_have) {
  auto trace = tests::trace_of({"plain", "d"}, {});
  for (int round = 0; round < 3; ++round)
    for (const std::string arm : {"plain", "d"}) {
      trace.launches.push_back(launch(arm, round));
      // Ninth prompts take a second a token, and plain did none of them in its second launch.
      if (arm == "plain" && round == 1)
        std::erase_if(trace.launches.back().requests,
                      [](const auto& request) { return request.prompt_id.back() == '8'; });
    }
  trace.header.rounds = 3;
  trace::Mix mix;
  mix.classes["code"].share = mix.classes["prose"].share = 0.5;
  Tune tune;
  add_grid(tune, trace, mix);
  ASSERT_EQ(tune.grid.size(), 6u);  // two classes and the mix on each arm
  const Quantity& speedup = tune.grid.back().speedup;
  EXPECT_EQ(tune.grid.back().arm, "d");
  EXPECT_EQ(tune.grid.back().workload_class, "");
  // Half a millisecond more for every other prompt, a third for the launch.
  const double more = 0.5 + 1.0 / 3;
  EXPECT_NEAR(*speedup.value, (20 + 40 + 2 * more) / (10 + 40 + 2 * more), 1e-9);
  ASSERT_TRUE(speedup.low && speedup.high) << speedup.reason;
  EXPECT_LT(*speedup.low, *speedup.value);
  EXPECT_GT(*speedup.high, *speedup.value);
  EXPECT_EQ(tune.grid[2].speedup.reason, "this is the plain arm");
}

TEST(Tune, claims_no_difference_of_two_predicted_speeds_that_nothing_tested) {
  Tune tune;
  tune.classes.emplace_back();
  tune.classes[0].fastest = known<std::string>("d-n3");
  tune.classes[0].most_accepting = known<std::string>("d-n1");
  const auto text = report::tune(tune, {false, 200});
  EXPECT_EQ(text.find("wrongly"), std::string::npos);
  EXPECT_NE(text.find("whether these two speeds differ was not tested"), std::string::npos);
}

/// A drafter that is always right, along a text of 24 tokens that are all alike or all differ.
trace::DraftMap mapped_text(const std::string& workload_class, bool alike) {
  trace::DraftMap map;
  map.workload_class = map.prompt_id = workload_class;
  map.asks.resize(1);
  map.asks.front().drafting.n_max = 1;
  for (int place = 0; place < 24; ++place) {
    map.tokens.push_back(alike ? 7 : place);
    map.asks.front().places.push_back(place);
    map.asks.front().offered.push_back(1);
    map.asks.front().accepted.push_back(1);
  }
  return map;
}

TEST(Tune, says_that_a_class_loops_where_no_length_is_best) {
  auto trace = tests::trace_of({"plain", "d"}, {});
  trace.header.rounds = 1;
  trace.header.arms[1].setup.spec_type = trace::SpecType::draft_mtp;
  auto drafted = tests::RequestBuilder("prose", "prose").draft(10, 1, 1).build();
  drafted.drafting = {{1, 0}};
  trace.launches = {
      tests::launch_of("d", 1, {}),  // past all rounds: maps are made there
      tests::launch_of("plain", 0, {tests::RequestBuilder("prose", "prose").plain(10).build()}),
      tests::launch_of("d", 0, {drafted})};
  trace.launches[0].maps = {mapped_text("prose", false), mapped_text("code", true)};
  trace::Mix mix;
  mix.classes["code"].share = mix.classes["prose"].share = 0.5;
  const Tune tune = to_tune(trace, mix);
  const std::string reason = "class code loops: its rates do not compare with the others";
  EXPECT_EQ(tune.best.reason, reason);
  EXPECT_NE(report::tune(tune, {false, 200}).find(reason), std::string::npos);
  ASSERT_EQ(tune.classes.size(), 2u);
  EXPECT_EQ(tune.classes[1].fastest.value, "d-n1");
}

}  // namespace
}  // namespace paceline::document
