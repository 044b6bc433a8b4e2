#include "cli/sweep_points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

ArmSettings mtp() {
  ArmSettings settings;
  settings.model = "target.gguf";
  settings.spec_types = {"draft-mtp"};
  settings.threads = 1;
  return settings;
}

SweptArms swept(const SweepSettings& settings, const ArmSettings& base = mtp()) {
  const auto arms = make_points(base, settings);
  EXPECT_TRUE(arms) << (arms ? "" : arms.error().message);
  return arms.value_or(SweptArms{});
}

Words names(const SweptArms& swept) {
  Words found;
  for (const auto& arm : swept.arms) found.push_back(arm.name);
  return found;
}

std::string refusal(const SweepSettings& settings, const ArmSettings& base = mtp()) {
  const auto arms = make_points(base, settings);
  return arms ? "" : arms.error().message;
}

TEST(SweepPoints, are_every_combination_with_one_plain_arm_for_equal_engine_settings) {
  const auto result = swept({.vary = {"spec-draft-n-max=1..3,8", "ctk=f16,q8_0"}});
  EXPECT_THAT(names(result),
              ElementsAre("plain ctk=f16", "plain ctk=q8_0", "n-max=1 ctk=f16", "n-max=1 ctk=q8_0",
                          "n-max=2 ctk=f16", "n-max=2 ctk=q8_0", "n-max=3 ctk=f16",
                          "n-max=3 ctk=q8_0", "n-max=8 ctk=f16", "n-max=8 ctk=q8_0"));
  const auto& arm = result.arms.back();
  EXPECT_EQ(arm.setup.draft_n_max, 8);
  EXPECT_EQ(arm.setup.kv.k, "q8_0");
  EXPECT_EQ(arm.plain, "plain ctk=q8_0");
  EXPECT_EQ(trace::find_arm(result.arms, arm.plain)->setup.kv.k, "q8_0");
  EXPECT_EQ(result.sweep.points.size(), 8U);
  EXPECT_THAT(result.sweep.points.back().values, ElementsAre("8", "q8_0"));
  EXPECT_EQ(result.sweep.method, trace::SweepMethod::full);
}

TEST(SweepPoints, share_the_plain_arm_where_only_drafting_differs) {
  const auto result =
      swept({.vary = {"spec-draft-n-max=2..6:2", "ctkd=f16,q8_0", "backend-sampling=on,off"}});
  EXPECT_EQ(result.arms.front().name, "plain");
  EXPECT_EQ(result.arms.size(), 1 + 3 * 2 * 2U);
  EXPECT_EQ(result.arms[1].name, "n-max=2 ctkd=f16 backend-sampling=on");
}

TEST(SweepPoints, around_a_point_leave_it_by_one_option_at_a_time) {
  const auto result = swept({.vary = {"spec-draft-n-max=1,3,5", "t=1,2", "temp=0,1"},
                             .around = {"spec-draft-n-max=3", "temp=1"}});
  Words points;
  for (const auto& point : result.sweep.points) points.push_back(point.arm);
  EXPECT_THAT(points, ElementsAre("n-max=3 t=1 temp=1", "n-max=1 t=1 temp=1", "n-max=5 t=1 temp=1",
                                  "n-max=3 t=2 temp=1", "n-max=3 t=1 temp=0"));
  EXPECT_EQ(result.sweep.method, trace::SweepMethod::around);
  EXPECT_EQ(trace::find_arm(result.arms, "n-max=3 t=1 temp=0")->plain, "plain t=1 temp=0");
}

TEST(SweepPoints, of_plain_decoding_are_plain_arms) {
  ArmSettings plain = mtp();
  plain.spec_types.clear();
  const auto result = swept({.vary = {"threads=1,2"}}, plain);
  EXPECT_THAT(names(result), ElementsAre("threads=1", "threads=2"));
  EXPECT_TRUE(trace::is_denominator(result.arms[1]));
  EXPECT_EQ(result.arms[1].setup.threads, 2);
}

TEST(SweepPoints, of_large_grids_are_halved_unless_all_are_asked_for) {
  const Words vary = {"spec-draft-n-max=1..25"};
  EXPECT_EQ(swept({.vary = vary}).sweep.method, trace::SweepMethod::halving);
  EXPECT_EQ(swept({.vary = vary, .full = true}).sweep.method, trace::SweepMethod::full);
  EXPECT_EQ(swept({.vary = {"spec-draft-n-max=1..24"}}).sweep.method, trace::SweepMethod::full);
  EXPECT_EQ(swept({.vary = {"t=1,2"}, .halving = true}).sweep.method, trace::SweepMethod::halving);
}

TEST(SweepPoints, may_be_of_several_programs_and_drop_the_plain_arms) {
  ArmSettings no_plain = mtp();
  no_plain.no_plain = true;
  const SweepSettings settings{.vary = {"server-bin=a/server,b/server"}};
  EXPECT_EQ(*varied_servers(settings), (Words{"a/server", "b/server"}));
  const auto result = swept(settings, no_plain);
  ASSERT_EQ(result.arms.size(), 2U);
  EXPECT_EQ(result.arms[1].setup.server_bin, "b/server");
  EXPECT_EQ(swept(settings).arms.size(), 4U);
}

TEST(SweepPoints, that_cannot_be_are_refused_by_name) {
  const struct {
    SweepSettings settings;
    const char* says;
  } cases[] = {
      {{}, "nothing is varied"},
      {{.vary = {"spec-draft-n-max"}}, "NAME=VALUE"},
      {{.vary = {"spec-draft-n-max="}}, "NAME=VALUE"},
      {{.vary = {"launches=1,2"}}, "no option that one arm can have"},
      {{.vary = {"model=a,b"}}, "no option that one arm can have"},
      {{.vary = {"t=3..1"}}, "no range"},
      {{.vary = {"t=1..999999999"}}, "no range"},
      {{.vary = {"t=1..x"}}, "no range"},
      {{.vary = {"t=1..4:0"}}, "no range"},
      {{.vary = {"t=2"}}, "one point only"},
      {{.vary = {"t=2,2"}}, "one point only"},
      {{.vary = {"t=1,2", "threads=3"}}, "twice"},
      {{.vary = {"t=1..64", "spec-draft-n-max=1..64"}}, "over 1024 points"},
      {{.vary = {"spec-draft-n-max=1,99"}}, "the point n-max=99 cannot be"},
      {{.vary = {"ctk=f16,q7"}}, "the point ctk=q7 cannot be"},
      {{.vary = {"spec-type=draft-mtp,draft-dflash"}},
       "the point spec-type=draft-dflash cannot be"},
      {{.vary = {"t=1,2"}, .around = {"ctk=f16"}}, "it is not varied"},
      {{.vary = {"backend-sampling=on,both"}}, "is 3 arms and has to be one"},
  };
  for (const auto& [settings, says] : cases)
    EXPECT_THAT(refusal(settings), HasSubstr(says)) << says;
}

}  // namespace
}  // namespace paceline::cli
