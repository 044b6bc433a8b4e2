#include "cli/kv_types.hpp"

#include <gtest/gtest.h>

namespace paceline::cli {
namespace {

using Words = std::vector<std::string>;

/// A plain arm, one with MTP and one of n-grams, before types are asked for.
ArmSettings settings() {
  ArmSettings result;
  result.model = "target.gguf";
  result.extra = {"draft-mtp:3", "ngram-simple:4/7"};
  return result;
}

std::vector<trace::Arm> arms_of(const ArmSettings& asked) {
  const auto arms = make_arms(asked);
  EXPECT_TRUE(arms) << (arms ? "" : arms.error().message);
  return arms.value_or(std::vector<trace::Arm>{});
}

Words names(const std::vector<trace::Arm>& arms) {
  Words found;
  for (const auto& arm : arms) found.push_back(arm.name);
  return found;
}

TEST(KvTypes, that_nobody_asked_for_are_the_engines) {
  EXPECT_FALSE(asks_kv_types(settings()));
  for (const auto& arm : arms_of(settings())) {
    EXPECT_FALSE(arm.setup.kv.k || arm.setup.kv.v || arm.setup.draft_kv.k || arm.setup.draft_kv.v);
    EXPECT_EQ(arm.plain, "plain");
  }
}

TEST(KvTypes, of_one_choice_change_no_name_and_hold_for_every_arm) {
  ArmSettings asked = settings();
  asked.kv_k = {"q8_0"};
  asked.draft_kv_v = {"q4_0"};
  EXPECT_TRUE(asks_kv_types(asked));
  const auto arms = arms_of(asked);
  EXPECT_EQ(names(arms), (Words{"plain", "mtp-n3", "ngram-simple-4-7"}));
  for (const auto& arm : arms) {
    EXPECT_EQ(arm.setup.kv.k, "q8_0");
    EXPECT_FALSE(arm.setup.kv.v);
  }
  EXPECT_FALSE(arms.at(0).setup.draft_kv.v) << "there is no drafter";
  EXPECT_EQ(arms.at(1).setup.draft_kv.v, "q4_0");
  EXPECT_FALSE(arms.at(2).setup.draft_kv.v) << "n-grams have no cache";
}

TEST(KvTypes, of_several_are_arms_each_beside_a_plain_arm_of_its_own) {
  ArmSettings asked = settings();
  asked.kv_k = {"f16", "q8_0"};
  const auto arms = arms_of(asked);
  EXPECT_EQ(names(arms), (Words{"plain@k:f16", "mtp-n3@k:f16", "ngram-simple-4-7@k:f16",
                                "plain@k:q8_0", "mtp-n3@k:q8_0", "ngram-simple-4-7@k:q8_0"}));
  EXPECT_EQ(arms.at(4).setup.kv.k, "q8_0");
  EXPECT_EQ(arms.at(4).plain, "plain@k:q8_0");
  EXPECT_TRUE(trace::is_denominator(arms.at(3)));
  EXPECT_FALSE(trace::is_denominator(arms.at(4)));
}

TEST(KvTypes, of_k_and_v_are_crossed_and_named_once_where_they_are_the_same) {
  ArmSettings asked = settings();
  asked.extra = {};
  asked.kv_k = {"f16", "q8_0"};
  asked.kv_v = {"f16", "q8_0"};
  const auto arms = arms_of(asked);
  EXPECT_EQ(names(arms),
            (Words{"plain@f16", "plain@k:f16,v:q8_0", "plain@k:q8_0,v:f16", "plain@q8_0"}));
  EXPECT_EQ(arms.at(1).setup.kv.k, "f16");
  EXPECT_EQ(arms.at(1).setup.kv.v, "q8_0");
}

TEST(KvTypes, of_a_drafters_cache_multiply_its_own_arm_only) {
  ArmSettings asked = settings();
  asked.kv_v = {"f16", "q4_0"};
  asked.draft_kv_k = {"f16", "q8_0"};
  const auto arms = arms_of(asked);
  EXPECT_EQ(names(arms), (Words{"plain@v:f16", "mtp-n3@v:f16,dk:f16", "mtp-n3@v:f16,dk:q8_0",
                                "ngram-simple-4-7@v:f16", "plain@v:q4_0", "mtp-n3@v:q4_0,dk:f16",
                                "mtp-n3@v:q4_0,dk:q8_0", "ngram-simple-4-7@v:q4_0"}));
  EXPECT_EQ(arms.at(6).setup.kv.v, "q4_0");
  EXPECT_EQ(arms.at(6).setup.draft_kv.k, "q8_0");
  EXPECT_EQ(arms.at(6).plain, "plain@v:q4_0");
}

TEST(KvTypes, without_a_plain_arm_are_held_against_none) {
  ArmSettings asked = settings();
  asked.no_plain = true;
  asked.kv_k = {"f16", "q8_0"};
  const auto arms = arms_of(asked);
  for (const auto& arm : arms) EXPECT_EQ(trace::find_arm(arms, arm.plain), nullptr) << arm.name;
}

TEST(KvTypes, of_a_drafter_that_has_no_cache_and_types_given_twice_are_refused) {
  ArmSettings asked = settings();
  asked.extra = {"ngram-simple:4/7"};
  asked.draft_kv_k = {"q8_0"};
  const auto arms = make_arms(asked);
  ASSERT_FALSE(arms);
  EXPECT_NE(arms.error().message.find("no arm has a drafter"), std::string::npos)
      << arms.error().message;
  asked = settings();
  asked.kv_k = {"q8_0", "q8_0"};
  const auto twice = make_arms(asked);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("plain@k:q8_0 is asked for twice"), std::string::npos)
      << twice.error().message;
}

}  // namespace
}  // namespace paceline::cli
