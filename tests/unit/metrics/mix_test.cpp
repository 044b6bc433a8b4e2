#include "metrics/mix.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/request_builder.hpp"

namespace {

using namespace paceline;
using metrics::summarise;
using tests::launch_of;
using tests::RequestBuilder;
using tests::trace_of;
using trace::Mix;

/// Eight prompts a class; code takes 10 ms a token, prose 40, half of them +-10 % in turn.
trace::Launch launch(int round, double factor = 1) {
  std::vector<trace::Request> requests;
  for (int i = 0; i < 8; ++i) {
    const double turn = factor * (i % 2 == 0 ? 1.1 : 0.9);
    for (const auto& [name, ms] : {std::pair{"code", 10}, std::pair{"prose", 40}}) {
      RequestBuilder builder(name + std::to_string(i), name);
      for (int pass = 0; pass < 4; ++pass) builder.plain(static_cast<int>(std::lround(ms * turn)));
      requests.push_back(builder.build());
    }
  }
  return launch_of("plain", round, std::move(requests));
}

Mix mix_of(const std::map<std::string, double>& shares, std::optional<double> tokens = 20) {
  Mix mix;
  mix.name = "test";
  for (const auto& [name, share] : shares) mix.classes[name] = {share, tokens, {}};
  return mix;
}

metrics::ArmSummary arm_of(const std::vector<trace::Launch>& launches, const Mix& mix) {
  return summarise(trace_of({"plain"}, launches), mix).arms.at(0);
}

TEST(mix, pat_is_tokens_over_total_time) {
  // Half the tokens at 10 ms and half at 40 ms: 25 ms a token.
  const auto arm = arm_of({launch(0)}, mix_of({{"code", 0.5}, {"prose", 0.5}}));
  EXPECT_NEAR(*arm.pat_decode.value, 40, 1e-9);
  // A request of 20 tokens: a second of prefill, which makes the first one, and 19 more tokens.
  EXPECT_NEAR(*arm.pat_end_to_end.value, 20 / (1 + 19 * 0.025), 1e-9);
}

TEST(mix, each_class_has_its_own_length_of_a_request) {
  // Half the tokens each. Code in requests of 10: a second of prefill and 9 tokens of 10 ms make
  // 109 ms a token; prose in requests of 40: a second and 39 tokens of 40 ms make 64 ms.
  auto mix = mix_of({{"code", 0.5}, {"prose", 0.5}});
  mix.classes["code"].tokens_per_request = 10;
  mix.classes["prose"].tokens_per_request = 40;
  const auto arm = arm_of({launch(0)}, mix);
  EXPECT_NEAR(*arm.pat_end_to_end.value, 1 / (0.5 * 0.109 + 0.5 * 0.064), 1e-9);
  EXPECT_NEAR(*arm.pat_decode.value, 40, 1e-9) << "decoding has nothing to do with it";
}

TEST(mix, one_class_without_a_length_leaves_no_end_to_end_figure) {
  auto mix = mix_of({{"code", 0.5}, {"prose", 0.5}});
  mix.classes["prose"].tokens_per_request.reset();
  const auto arm = arm_of({launch(0)}, mix);
  EXPECT_TRUE(arm.pat_decode.value);
  EXPECT_EQ(arm.pat_end_to_end.reason,
            "the mix does not say how many tokens a request of class prose has");
}

TEST(mix, a_run_that_declared_one_keeps_it_and_another_has_equal_shares) {
  auto trace = trace_of({"plain"}, {launch(0)});
  EXPECT_EQ(metrics::mix_of(trace).name, "equal shares");
  trace.header.mix = mix_of({{"code", 0.9}, {"prose", 0.1}});
  EXPECT_EQ(metrics::mix_of(trace).classes.at("code").share, 0.9);
}

TEST(mix, shares_weigh_tokens) {
  const auto arm = arm_of({launch(0)}, mix_of({{"code", 0.9}, {"prose", 0.1}}));
  EXPECT_NEAR(*arm.pat_decode.value, 1 / 0.013, 1e-9);
}

TEST(mix, the_interval_adds_the_prompts_of_each_class_by_its_part_of_the_time) {
  // Parts of the time 0.2 and 0.8; each class's mean has a standard error of 0.1 / sqrt(7) with 7
  // degrees of freedom: together sqrt(0.04 + 0.64) of it, with 7 (0.68^2) / (0.04^2 + 0.64^2).
  const auto arm = arm_of({launch(0)}, mix_of({{"code", 0.5}, {"prose", 0.5}}));
  const double error = 0.1 / std::sqrt(7.0) * std::sqrt(0.68);
  const double half = std::log(*arm.pat_decode.high / 40);
  EXPECT_NEAR(std::log(40 / *arm.pat_decode.low), half, 1e-9);
  // t at 7.87 degrees of freedom lies between those at 7 and 8: 2.3646 and 2.3060.
  EXPECT_LT(half, 2.3646 * error);
  EXPECT_GT(half, 2.3060 * error);
  EXPECT_EQ(arm.pat_decode.n, 16);
}

TEST(mix, prefill_that_never_varies_narrows_the_end_to_end_interval) {
  const auto arm = arm_of({launch(0)}, mix_of({{"code", 0.5}, {"prose", 0.5}}));
  // Decode is 475 of 1475 ms, and the half-width falls with it.
  EXPECT_NEAR(std::log(*arm.pat_end_to_end.high / *arm.pat_end_to_end.value),
              std::log(*arm.pat_decode.high / 40) * 475 / 1475, 1e-9);
}

TEST(mix, launches_are_shared_by_the_classes_and_do_not_average_out) {
  // Three launches at 0.8, 1 and 1.2 of the speed, each class alike: the relative standard error
  // over launches alone is 0.2 / sqrt(3) = 0.115, whatever the number of classes.
  const auto arm = arm_of({launch(0, 0.8), launch(1, 1), launch(2, 1.2)},
                          mix_of({{"code", 0.5}, {"prose", 0.5}}));
  const double half = std::log(*arm.pat_decode.high / *arm.pat_decode.value);
  EXPECT_GT(half, 0.115 * 3);  // t at 2 to 3 degrees of freedom
  EXPECT_EQ(arm.pat_decode.level, "95 % over prompts and launches");
}

TEST(mix, a_mix_of_one_class_is_that_class) {
  const auto arm = arm_of({launch(0, 0.9), launch(1, 1), launch(2, 1.3)}, mix_of({{"prose", 1}}));
  const auto& prose = arm.classes[1].tokens_per_s;
  EXPECT_NEAR(*arm.pat_decode.value, *prose.value, 1e-9);
  EXPECT_NEAR(*arm.pat_decode.low, *prose.low, 1e-9);
  EXPECT_NEAR(*arm.pat_decode.high, *prose.high, 1e-9);
}

TEST(mix, what_cannot_be_said_has_a_reason) {
  const auto reasons = [](const Mix& mix) {
    const auto arm = arm_of({launch(0)}, mix);
    EXPECT_FALSE(arm.pat_decode.value);
    EXPECT_FALSE(arm.pat_end_to_end.value);
    return arm.pat_decode.reason;
  };
  EXPECT_EQ(reasons(mix_of({{"code", 0.5}, {"json", 0.5}})),
            "class json of the mix was not measured");
  EXPECT_EQ(reasons(mix_of({})), "the mix names no class");
  EXPECT_EQ(reasons(mix_of({{"code", 0.5}})), "the shares of the mix add up to 0.5, not 1");
  EXPECT_EQ(reasons(mix_of({{"code", 1.5}, {"prose", -0.5}})),
            "the mix gives class prose a share below 0");
}

TEST(mix, one_class_of_too_uneven_prompts_leaves_the_mix_without_an_interval) {
  // Seven prose outputs of 5 tokens and one of 45: (35 + 45)^2 / (7 * 25 + 2025) = 2.9.
  auto uneven = launch(0);
  RequestBuilder longer("prose0", "prose");
  for (int pass = 0; pass < 44; ++pass) longer.plain(44);
  uneven.requests[1] = longer.build();
  const auto arm = arm_of({uneven}, mix_of({{"code", 0.5}, {"prose", 0.5}}));
  EXPECT_TRUE(arm.pat_decode.value);
  EXPECT_FALSE(arm.pat_decode.low);
  EXPECT_NE(arm.pat_decode.reason.find("worth 2.9 prompts"), std::string::npos);
}

TEST(mix, a_class_without_a_share_need_not_be_measured) {
  EXPECT_TRUE(arm_of({launch(0)}, mix_of({{"code", 1}, {"json", 0}})).pat_decode.value);
}

TEST(mix, without_tokens_per_request_there_is_no_end_to_end_figure) {
  const auto arm = arm_of({launch(0)}, mix_of({{"code", 1}}, std::nullopt));
  EXPECT_TRUE(arm.pat_decode.value);
  EXPECT_FALSE(arm.pat_end_to_end.value);
  EXPECT_EQ(arm.pat_end_to_end.reason,
            "the mix does not say how many tokens a request of class code has");
}

TEST(mix, an_equal_mix_has_every_class_once_and_the_cap_as_length) {
  const auto mix = metrics::equal_mix(trace_of({"plain"}, {launch(0)}));
  ASSERT_EQ(mix.classes.size(), 2u);
  for (const char* name : {"code", "prose"}) {
    EXPECT_EQ(mix.classes.at(name).share, 0.5);
    EXPECT_EQ(mix.classes.at(name).tokens_per_request, 16);
  }
}

}  // namespace
