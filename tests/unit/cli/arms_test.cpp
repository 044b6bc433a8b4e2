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
  EXPECT_FALSE(arms->at(0).sampling.temp) << "the model's file has its say first";
  EXPECT_EQ(arms->at(0).sampling.tool_temp, 0.7);
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
  asked.spec_types = {"draft-mtp"};
  EXPECT_EQ(make_arms(asked)->at(1).setup.draft_path, "drafter.gguf")
      << "-md with --spec-type is never dropped silently";
}

TEST(Arms, cannot_draft_as_a_running_server_does) {
  ArmSettings settings;
  settings.model = "t.gguf";
  settings.extra = {"undeclared"};
  const auto arms = make_arms(settings);
  ASSERT_FALSE(arms);
  EXPECT_EQ(arms.error().message.find("undeclared", 14), std::string::npos) << arms.error().message;
}

TEST(Arms, of_n_grams_are_named_by_their_sizes_and_take_no_file) {
  ArmSettings asked = settings();
  asked.draft_model = "dflash.gguf";
  asked.extra = {"ngram-simple:4/7",    "ngram-map-k:5/9/2", "ngram-mod:24/48/64", "ngram-mod",
                 "ngram-map-k4v:6/8/2", "ngram-cache",       "draft-dflash"};
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  EXPECT_EQ(arms->at(1).name, "ngram-simple-4-7");
  EXPECT_EQ(arms->at(1).setup.spec_type, trace::SpecType::ngram_simple);
  EXPECT_EQ(arms->at(1).setup.ngram.size_n, 4);
  EXPECT_EQ(arms->at(1).setup.ngram.size_m, 7);
  EXPECT_FALSE(arms->at(1).setup.ngram.min_hits);
  EXPECT_FALSE(arms->at(1).setup.draft_path);
  EXPECT_EQ(arms->at(2).name, "ngram-map-k-5-9-2");
  EXPECT_EQ(arms->at(2).setup.ngram.min_hits, 2);
  EXPECT_EQ(arms->at(3).name, "ngram-mod-24-48-64");
  EXPECT_EQ(arms->at(3).setup.ngram.size_n, 24);
  EXPECT_EQ(arms->at(3).setup.ngram.n_min, 48);
  EXPECT_EQ(arms->at(3).setup.ngram.size_m, 64);
  EXPECT_EQ(arms->at(4).name, "ngram-mod") << "all of its sizes are the engine's";
  EXPECT_EQ(arms->at(5).name, "ngram-map-k4v-6-8-2");
  EXPECT_EQ(arms->at(5).setup.spec_type, trace::SpecType::ngram_map_k4v);
  EXPECT_EQ(arms->at(6).name, "ngram-cache");
}

TEST(Arms, of_n_grams_take_llama_servers_options_where_they_name_no_sizes) {
  ArmSettings asked = settings();
  asked.spec_types = {"ngram-simple"};
  asked.ngram[trace::SpecType::ngram_simple].size_m = 7;
  asked.ngram[trace::SpecType::ngram_mod].size_n = 16;
  asked.extra = {"ngram-mod"};
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  EXPECT_EQ(arms->at(1).name, "ngram-simple-default-7");
  EXPECT_EQ(arms->at(1).setup.ngram.size_m, 7);
  EXPECT_EQ(arms->at(2).name, "ngram-mod-16");
}

TEST(Arms, of_several_drafters_ask_n_grams_first_in_llama_cpps_order_however_written) {
  ArmSettings asked = settings();
  asked.extra = {"draft-mtp:3+ngram-mod:24/48/64+ngram-simple:4/7", "ngram-map-k+ngram-cache"};
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  EXPECT_EQ(arms->at(1).name, "ngram-simple-4-7+ngram-mod-24-48-64+mtp-n3");
  const trace::Setup& three = arms->at(1).setup;
  EXPECT_EQ(three.spec_type, trace::SpecType::draft_mtp);
  EXPECT_EQ(three.draft_n_max, 3);
  ASSERT_EQ(three.asked_first.size(), 2u);
  EXPECT_EQ(three.asked_first[0].type, trace::SpecType::ngram_simple);
  EXPECT_EQ(three.asked_first[0].sizes.size_m, 7);
  EXPECT_EQ(three.asked_first[1].type, trace::SpecType::ngram_mod);
  EXPECT_EQ(three.asked_first[1].sizes.n_min, 48);
  EXPECT_EQ(arms->at(2).name, "ngram-map-k+ngram-cache");
  EXPECT_EQ(arms->at(2).setup.spec_type, trace::SpecType::ngram_cache);
}

TEST(Arms, of_several_drafters_take_llama_servers_list_and_its_options) {
  ArmSettings asked = settings();
  asked.spec_types = {"draft-dflash", "ngram-map-k"};
  asked.draft_model = "d.gguf";
  asked.draft_n_max = 5;
  asked.ngram[trace::SpecType::ngram_map_k].size_m = 9;
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  const trace::Setup& setup = arms->at(1).setup;
  EXPECT_EQ(setup.spec_type, trace::SpecType::draft_dflash);
  EXPECT_EQ(setup.draft_path, "d.gguf");
  EXPECT_EQ(setup.draft_n_max, 5);
  ASSERT_EQ(setup.asked_first.size(), 1u);
  EXPECT_EQ(setup.asked_first[0].sizes.size_m, 9);
}

TEST(Arms, keep_a_plus_that_belongs_to_a_files_name) {
  ArmSettings asked = settings();
  asked.extra = {"ngram-simple:4/7+draft-simple:3:a+b.gguf"};
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  EXPECT_EQ(arms->at(1).setup.draft_path, "a+b.gguf");
  EXPECT_EQ(arms->at(1).setup.asked_first.size(), 1u);
}

TEST(Arms, say_which_drafters_cannot_stand_in_one_arm) {
  ArmSettings asked = settings();
  asked.draft_model = "d.gguf";
  asked.extra = {"draft-dflash+draft-mtp"};
  EXPECT_NE(refusal(asked).find("draft-mtp and draft-dflash cannot draft in one arm"),
            std::string::npos);
  asked.extra = {"ngram-mod+ngram-mod"};
  EXPECT_NE(refusal(asked).find("ngram-mod is named twice"), std::string::npos);
  asked.extra = {"draft-mtp+ngram-none"};
  EXPECT_NE(refusal(asked).find("draft-mtp+ngram-none"), std::string::npos);
}

TEST(Arms, pick_draft_tokens_where_they_are_told_to) {
  ArmSettings asked = settings();
  asked.draft_model = "d.gguf";
  asked.extra = {"draft-mtp:3", "draft-simple:3", "ngram-simple:4/7"};
  asked.backend_sampling = BackendSampling::both;
  const auto both = make_arms(asked);
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->size(), 5u) << "plain, two of MTP, and those that have no choice once";
  EXPECT_EQ(both->at(1).name, "mtp-n3");
  EXPECT_TRUE(both->at(1).setup.backend_sampling);
  EXPECT_EQ(both->at(2).name, "mtp-n3-host");
  EXPECT_FALSE(both->at(2).setup.backend_sampling);
  EXPECT_TRUE(both->at(3).setup.backend_sampling);
  asked.backend_sampling = BackendSampling::off;
  const auto off = make_arms(asked);
  ASSERT_EQ(off->size(), 4u);
  EXPECT_EQ(off->at(1).name, "mtp-n3-host");
  asked.extra = {"ngram-simple:4/7"};
  asked.draft_model.reset();
  EXPECT_NE(refusal(asked).find("--backend-sampling"), std::string::npos);
}

TEST(Arms, that_draft_are_all_forced_and_named_so) {
  ArmSettings asked = settings();
  asked.extra = {"draft-mtp:3", "ngram-cache"};
  asked.accept_length = 2.5;
  asked.accept_schedule = trace::AcceptSchedule::minimum_variance;
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  EXPECT_FALSE(arms->at(0).setup.forced);
  EXPECT_EQ(arms->at(1).name, "mtp-n3-forced");
  EXPECT_EQ(arms->at(1).setup.forced->length, 2.5);
  EXPECT_EQ(arms->at(1).setup.forced->schedule, trace::AcceptSchedule::minimum_variance);
  EXPECT_EQ(arms->at(2).name, "ngram-cache-forced");
}

TEST(Arms, say_what_of_forced_acceptance_does_not_go_together) {
  ArmSettings asked = settings();
  asked.accept_length = 3;
  EXPECT_NE(refusal(asked).find("no arm drafts"), std::string::npos);
  asked.extra = {"draft-mtp:3"};
  asked.accept_rates = {0.5, 0.2, 0.1};
  EXPECT_NE(refusal(asked).find("give one of them"), std::string::npos);
  asked.accept_length.reset();
  EXPECT_EQ(make_arms(asked)->at(1).setup.forced->rates, asked.accept_rates);
  asked.accept_schedule = trace::AcceptSchedule::geometric;
  EXPECT_NE(refusal(asked).find("--accept-length is spread"), std::string::npos);
}

TEST(Arms, of_draft_simple_take_the_file_named_with_md_or_their_own) {
  ArmSettings asked = settings();
  asked.draft_model = "small.gguf";
  asked.extra = {"draft-simple:3", "draft-simple:4:other.gguf"};
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  EXPECT_EQ(arms->at(1).name, "simple-n3");
  EXPECT_EQ(arms->at(1).setup.draft_path, "small.gguf");
  EXPECT_EQ(arms->at(2).setup.draft_path, "other.gguf");
}

TEST(Arms, draft_as_the_file_says_when_no_type_is_named) {
  ArmSettings asked = settings();
  asked.draft_model = "small.gguf";
  asked.found_type = trace::SpecType::draft_simple;
  const auto alone = make_arms(asked);
  ASSERT_TRUE(alone) << alone.error().message;
  ASSERT_EQ(alone->size(), 2u);
  EXPECT_EQ(alone->at(1).setup.spec_type, trace::SpecType::draft_simple);
  EXPECT_EQ(alone->at(1).setup.draft_path, "small.gguf");
  asked.draft_n_max = 4;
  EXPECT_EQ(make_arms(asked)->at(1).name, "simple-n4");
  asked.spec_types = {"draft-mtp"};
  EXPECT_EQ(make_arms(asked)->at(1).name, "mtp-n4") << "a named type comes first";
  asked = settings();
  asked.draft_model = "dflash.gguf";
  asked.found_type = trace::SpecType::draft_dflash;
  asked.extra = {"draft-dflash:6"};
  EXPECT_EQ(make_arms(asked)->size(), 2u) << "--arm says how the file is used";
}

TEST(Arms, say_which_part_of_their_sizes_is_wrong) {
  ArmSettings asked = settings();
  for (const char* arm : {"ngram-simple:4", "ngram-simple:4/7/1/2", "ngram-simple:4/",
                          "ngram-mod:8", "ngram-mod:24/48", "ngram-simple:4/x", "ngram-simple:"}) {
    asked.extra = {arm};
    EXPECT_NE(refusal(asked).find("are no sizes of"), std::string::npos) << arm;
  }
  asked.extra = {"ngram-cache:4"};
  EXPECT_NE(refusal(asked).find("ngram-cache has no sizes"), std::string::npos);
  asked = settings();
  asked.ngram[trace::SpecType::ngram_map_k].size_n = 4;
  EXPECT_NE(refusal(asked).find("no arm uses them"), std::string::npos);
  asked = settings();
  asked.spec_types = {"ngram-simple"};
  asked.draft_model = "dflash.gguf";
  EXPECT_NE(refusal(asked).find("no arm uses it"), std::string::npos);
  asked.draft_model.reset();
  asked.draft_n_max = 3;
  EXPECT_NE(refusal(asked).find("not for ngram-simple"), std::string::npos);
}

TEST(Arms, that_make_no_sense_say_what_to_write_instead) {
  ArmSettings asked = settings();
  asked.spec_types = {"draft-magic"};
  EXPECT_NE(
      refusal(asked).find("draft-mtp, draft-dflash, draft-eagle3, draft-dspark, ngram-simple"),
      std::string::npos);
  asked = settings();
  for (const char* type : {"draft-dflash", "draft-dspark"}) {
    asked.spec_types = {type};
    EXPECT_NE(refusal(asked).find("add -md FILE"), std::string::npos) << type;
  }
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
  trace::Arm ngram;
  ngram.setup.spec_type = trace::SpecType::ngram_simple;
  ngram.setup.ngram.size_m = 7;
  EXPECT_EQ(widest_pass({ngram}), 10);
  ngram.setup.ngram.size_m.reset();
  EXPECT_EQ(widest_pass({ngram}), 16) << "the engine's default is longer";
}

TEST(Arms, of_n_grams_stand_beside_the_drafter_whose_type_was_found) {
  ArmSettings asked = settings();
  asked.draft_model = "small.gguf";
  asked.found_type = trace::SpecType::draft_simple;
  asked.extra = {"ngram-simple:4/7"};
  const auto arms = make_arms(asked);
  ASSERT_TRUE(arms) << arms.error().message;
  ASSERT_EQ(arms->size(), 3u);
  EXPECT_EQ(arms->at(1).name, "simple");
  EXPECT_EQ(arms->at(2).name, "ngram-simple-4-7");
}

model::FileFacts file_of_kind(const char* kind) {
  model::FileFacts file;
  file.path = "d.gguf";
  file.drafter = model::DrafterFacts{};
  file.drafter->kind = kind;
  return file;
}

TEST(DrafterType, follows_from_the_kind_of_file) {
  EXPECT_EQ(drafter_type(file_of_kind("dflash")), trace::SpecType::draft_dflash);
  EXPECT_EQ(drafter_type(file_of_kind("dflash2")), trace::SpecType::draft_dflash);
  EXPECT_EQ(drafter_type(file_of_kind("eagle3")), trace::SpecType::draft_eagle3);
  EXPECT_EQ(drafter_type(file_of_kind("dspark")), trace::SpecType::draft_dspark);
  EXPECT_EQ(drafter_type(file_of_kind("mtp")), trace::SpecType::draft_mtp);
  EXPECT_EQ(drafter_type(file_of_kind("gemma4-assistant")), trace::SpecType::draft_mtp);
}

TEST(DrafterType, of_an_ordinary_model_is_draft_simple) {
  EXPECT_EQ(drafter_type({}), trace::SpecType::draft_simple);
}

TEST(DrafterType, that_cannot_be_run_is_refused_by_name) {
  const auto type = drafter_type(file_of_kind("medusa"));
  ASSERT_FALSE(type);
  EXPECT_NE(type.error().message.find("medusa"), std::string::npos) << type.error().message;
}

}  // namespace
}  // namespace paceline::cli
