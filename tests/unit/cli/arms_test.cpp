#include "cli/arms.hpp"

#include <gtest/gtest.h>

namespace paceline::cli {
namespace {

ArmSettings settings() {
  ArmSettings result;
  result.model = "target.gguf";
  return result;
}

std::string refusal(const ArmSettings& asked) {
  const auto arms = make_arms(asked);
  EXPECT_FALSE(arms);
  return arms ? "" : arms.error().message;
}

TEST(Arms, without_a_drafter_are_plain_alone_at_temperature_0_7) {
  const auto arms = make_arms(settings());
  ASSERT_TRUE(arms);
  ASSERT_EQ(arms->size(), 1u);
  EXPECT_EQ(arms->at(0).name, "plain");
  EXPECT_EQ(arms->at(0).setup.spec_type, trace::SpecType::none);
  EXPECT_EQ(arms->at(0).sampling.temp, 0.7);
  EXPECT_FALSE(arms->at(0).sampling.top_k) << "nothing else is sent";
}

TEST(Arms, that_the_demo_asks_for_are_named_by_type_and_length) {
  ArmSettings asked = settings();
  asked.draft_model = "dflash.gguf";
  asked.extra = {"draft-dflash:6", "draft-mtp:3:own.gguf"};
  asked.sampling.temp = 0;
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  ASSERT_EQ(arms->size(), 3u);
  EXPECT_EQ(arms->at(1).name, "dflash-n6");
  EXPECT_EQ(arms->at(1).setup.draft_path, "dflash.gguf");
  EXPECT_EQ(arms->at(1).setup.draft_n_max, 6);
  EXPECT_EQ(arms->at(1).sampling.temp, 0);
  EXPECT_EQ(arms->at(2).name, "mtp-n3");
  EXPECT_EQ(arms->at(2).setup.draft_path, "own.gguf");
}

TEST(Arms, of_mtp_draft_from_the_target_beside_a_dflash_file_and_from_their_own_when_named) {
  ArmSettings asked = settings();
  asked.draft_model = "drafter.gguf";
  asked.extra = {"draft-dflash:6", "draft-mtp:3"};
  EXPECT_FALSE(make_arms(asked)->at(2).setup.draft_path);
  asked.extra = {};
  asked.spec_type = "draft-mtp";
  EXPECT_EQ(make_arms(asked)->at(1).setup.draft_path, "drafter.gguf")
      << "-md with --spec-type is never dropped silently";
}

TEST(Arms, that_make_no_sense_say_what_to_write_instead) {
  ArmSettings asked = settings();
  asked.spec_type = "draft-magic";
  EXPECT_NE(refusal(asked).find("draft-dflash and draft-mtp"), std::string::npos);
  asked = settings();
  asked.spec_type = "draft-dflash";
  EXPECT_NE(refusal(asked).find("add -md FILE"), std::string::npos);
  asked = settings();
  asked.draft_model = "dflash.gguf";
  EXPECT_NE(refusal(asked).find("--spec-type"), std::string::npos);
  asked = settings();
  asked.extra = {"draft-mtp:three"};
  EXPECT_NE(refusal(asked).find("three"), std::string::npos);
  asked = settings();
  asked.extra = {"draft-mtp:3:"};
  EXPECT_NE(refusal(asked).find("no file"), std::string::npos);
  asked = settings();
  asked.extra = {"draft-mtp:3", "draft-mtp:3"};
  EXPECT_NE(refusal(asked).find("twice"), std::string::npos);
  asked = settings();
  asked.draft_n_max = 3;
  EXPECT_NE(refusal(asked).find("--spec-type"), std::string::npos);
  asked = settings();
  asked.no_plain = true;
  EXPECT_NE(refusal(asked).find("nothing to measure"), std::string::npos);
}

TEST(WidestPass, shows_the_neighbours_of_the_longest_draft) {
  trace::Arm arm;
  EXPECT_EQ(widest_pass({arm}), 8);
  arm.setup.draft_n_max = 7;
  EXPECT_EQ(widest_pass({arm}), 10);
  arm.setup.draft_n_max = 60;
  EXPECT_EQ(widest_pass({arm}), 16);
}

}  // namespace
}  // namespace paceline::cli
