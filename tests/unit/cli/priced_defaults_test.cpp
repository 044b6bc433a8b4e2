#include "cli/priced_defaults.hpp"

#include <gtest/gtest.h>

#include "trace/sampling.hpp"

namespace paceline::cli {
namespace {

using trace::Origin;

trace::Arm arm(const std::string& name) {
  trace::Arm arm;
  arm.name = name;
  return arm;
}

/// llama.cpp's defaults, where the user asked for top_p and the file for a penalty.
trace::EffectiveSampling in_force() {
  trace::EffectiveSampling sampling;
  sampling.settings = {
      {"temp", 0.7, Origin::tool},           {"top_k", 40, Origin::library},
      {"top_p", 0.9, Origin::user},          {"min_p", 0.05, Origin::library},
      {"penalty_last_n", 64, Origin::gguf},  {"penalty_repeat", 1.1, Origin::gguf},
      {"penalty_freq", 0, Origin::library},  {"xtc_probability", 0, Origin::library},
      {"dry_multiplier", 0.8, Origin::gguf}, {"mirostat", 0, Origin::library}};
  sampling.chain = {"penalties", "dry", "top-k", "top-p", "min-p", "temp-ext", "dist"};
  return sampling;
}

std::vector<std::string> names(const std::vector<trace::Arm>& arms) {
  std::vector<std::string> names;
  for (const auto& one : arms) names.push_back(one.name);
  return names;
}

TEST(PricedDefaults, StandBehindEveryArmAndAreThoseThatActUnasked) {
  std::vector<std::string> notes;
  const auto arms = with_priced_defaults({arm("plain"), arm("mtp-n3")}, in_force(), notes);
  ASSERT_TRUE(arms) << arms.error().message;
  EXPECT_EQ(names(*arms), (std::vector<std::string>{
                              "plain", "plain-no-temp", "plain-no-top_k", "plain-no-min_p",
                              "plain-no-penalty_repeat", "mtp-n3", "mtp-n3-no-temp",
                              "mtp-n3-no-top_k", "mtp-n3-no-min_p", "mtp-n3-no-penalty_repeat"}));
  const auto& last = arms->back();
  EXPECT_EQ(last.sampling.penalty_repeat, 1.0);
  EXPECT_FALSE(last.sampling.min_p) << "one default at a time";
  EXPECT_EQ(last.neutralised->arm, "mtp-n3");
  EXPECT_EQ(last.neutralised->parameter, "penalty_repeat");
  EXPECT_EQ(last.neutralised->value, 1.1);
  EXPECT_FALSE(arms->front().neutralised);
}

TEST(PricedDefaults, TellOfThoseThatNoOptionSwitchesOff) {
  std::vector<std::string> notes;
  ASSERT_TRUE(with_priced_defaults({arm("plain")}, in_force(), notes));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].find("dry_multiplier 0.8"), 0u) << notes[0];
}

TEST(PricedDefaults, AreRefusedWhereNothingActsUnaskedOrNobodySays) {
  std::vector<std::string> notes;
  trace::EffectiveSampling all_asked = in_force();
  for (auto& setting : all_asked.settings) setting.origin = Origin::user;
  for (const auto& sampling : {all_asked, trace::EffectiveSampling{}})
    EXPECT_FALSE(with_priced_defaults({arm("plain")}, sampling, notes));
}

// What switching off does to the sampler itself is seen in worker/llama/sampling_test.cpp.
TEST(PricedDefaults, CanBeAskedForOfEveryParameterThatSwitchesASamplerOff) {
  int priced = 0;
  for (const auto& parameter : trace::asked_parameters) {
    if (!parameter.neutral) continue;
    ++priced;
    trace::Sampling sampling;
    parameter.ask(sampling, *parameter.neutral);
    EXPECT_EQ(trace::asked(sampling, parameter.name), parameter.neutral) << parameter.name;
  }
  EXPECT_EQ(priced, 10) << "all but xtc_threshold and penalty_last_n";
}

}  // namespace
}  // namespace paceline::cli
