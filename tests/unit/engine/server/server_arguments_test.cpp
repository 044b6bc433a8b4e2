#include "engine/server/server_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::engine::server {
namespace {

using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;

trace::Setup plain() {
  trace::Setup setup;
  setup.model_path = "m.gguf";
  setup.n_ctx = 1000;
  setup.threads = 3;
  return setup;
}

/// What stands between the model and the context: the words of drafting.
Words drafting_words(const trace::Setup& setup) {
  const Words all = server_arguments(setup, 1, 80);
  const auto context = std::find(all.begin(), all.end(), "-c");
  return {all.begin() + 2, context};
}

TEST(ServerArguments, name_model_context_threads_one_slot_and_the_port) {
  EXPECT_EQ(server_arguments(plain(), 1, 4711),
            (Words{"-m", "m.gguf", "-c", "1000", "-t", "3", "-np", "1", "--host", "127.0.0.1",
                   "--port", "4711", "--metrics"}));
}

TEST(ServerArguments, name_the_types_of_kv_caches_that_were_asked_for_and_no_others) {
  trace::Setup setup = plain();
  setup.kv = {"q8_0", std::nullopt};
  EXPECT_EQ(drafting_words(setup), (Words{"-ctk", "q8_0"}));
  setup.kv.v = "q4_0";
  setup.draft_kv = {"f16", "bf16"};
  EXPECT_EQ(drafting_words(setup),
            (Words{"-ctk", "q8_0", "-ctv", "q4_0", "-ctkd", "f16", "-ctvd", "bf16"}));
}

TEST(ServerArguments, give_each_slot_the_context_that_was_asked_for) {
  const Words words = server_arguments(plain(), 4, 80);
  EXPECT_EQ(Words(words.begin() + 2, words.begin() + 4), (Words{"-c", "4000"}));
  EXPECT_EQ(Words(words.begin() + 6, words.begin() + 8), (Words{"-np", "4"}));
}

TEST(ServerArguments, put_the_users_own_last_where_they_override) {
  trace::Setup setup = plain();
  setup.server_args = {"-c", "8192", "--no-warmup"};
  const Words words = server_arguments(setup, 1, 80);
  EXPECT_EQ(Words(words.end() - 3, words.end()), setup.server_args);
}

TEST(ServerArguments, of_a_drafter_name_its_file_its_type_and_the_longest_draft) {
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::draft_simple;
  setup.draft_path = "d.gguf";
  setup.draft_n_max = 5;
  EXPECT_EQ(drafting_words(setup),
            (Words{"-md", "d.gguf", "--spec-type", "draft-simple", "--spec-draft-n-max", "5"}));
}

TEST(ServerArguments, of_mtp_in_the_target_name_no_file_and_leave_the_servers_own_longest_draft) {
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::draft_mtp;
  EXPECT_EQ(drafting_words(setup), (Words{"--spec-type", "draft-mtp"}));
}

TEST(ServerArguments, of_dflash_ask_for_the_whole_block_when_no_length_was_named) {
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::draft_dflash;
  setup.draft_path = PACELINE_SOURCE_DIR "/models/dflash-f16.gguf";  // block 8 by models/README.md
  EXPECT_EQ(drafting_words(setup), (Words{"-md", *setup.draft_path, "--spec-type", "draft-dflash",
                                          "--spec-draft-n-max", "7"}));
}

TEST(ServerArguments, of_dspark_ask_for_the_whole_block_too) {
  const support::TemporaryFolder folder;
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::draft_dspark;
  setup.draft_path = folder.path() / "d.gguf";
  ASSERT_TRUE(util::write_file(*setup.draft_path, support::GgufBuilder("dflash")
                                                      .u32("dflash.block_size", 8)
                                                      .tensor("markov_w1.weight", {4, 10}, 0, 160)
                                                      .bytes()));
  EXPECT_EQ(drafting_words(setup), (Words{"-md", *setup.draft_path, "--spec-type", "draft-dspark",
                                          "--spec-draft-n-max", "8"}));
}

TEST(ServerArguments, leave_the_longest_draft_of_a_file_that_cannot_be_read_to_the_server) {
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::draft_dflash;
  setup.draft_path = "/no/such.gguf";
  EXPECT_EQ(drafting_words(setup), (Words{"-md", "/no/such.gguf", "--spec-type", "draft-dflash"}));
}

TEST(ServerArguments, name_the_sizes_of_n_grams_as_llama_server_does) {
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::ngram_simple;
  setup.ngram = {.size_n = 2, .size_m = 4, .min_hits = 1, .n_min = std::nullopt};
  EXPECT_EQ(drafting_words(setup),
            (Words{"--spec-type", "ngram-simple", "--spec-ngram-simple-size-n", "2",
                   "--spec-ngram-simple-size-m", "4", "--spec-ngram-simple-min-hits", "1"}));
  setup.spec_type = trace::SpecType::ngram_map_k;
  setup.ngram = {.size_n = 3, .size_m = {}, .min_hits = {}, .n_min = {}};
  EXPECT_EQ(drafting_words(setup),
            (Words{"--spec-type", "ngram-map-k", "--spec-ngram-map-k-size-n", "3"}));
  setup.spec_type = trace::SpecType::ngram_map_k4v;
  EXPECT_EQ(drafting_words(setup),
            (Words{"--spec-type", "ngram-map-k4v", "--spec-ngram-map-k4v-size-n", "3"}));
  setup.spec_type = trace::SpecType::ngram_cache;
  setup.ngram = {};
  EXPECT_EQ(drafting_words(setup), (Words{"--spec-type", "ngram-cache"}));
  setup.spec_type = trace::SpecType::ngram_mod;
  setup.ngram = {.size_n = 3, .size_m = 5, .min_hits = {}, .n_min = 1};
  EXPECT_EQ(drafting_words(setup),
            (Words{"--spec-type", "ngram-mod", "--spec-ngram-mod-n-match", "3",
                   "--spec-ngram-mod-n-max", "5", "--spec-ngram-mod-n-min", "1"}));
}

TEST(ServerArguments, name_several_drafters_as_llama_server_lists_them) {
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::draft_mtp;
  setup.draft_n_max = 3;
  setup.asked_first = {
      {trace::SpecType::ngram_simple, {.size_n = 4, .size_m = 7, .min_hits = {}, .n_min = {}}},
      {trace::SpecType::ngram_cache, {}}};
  EXPECT_EQ(
      drafting_words(setup),
      (Words{"--spec-type", "ngram-simple,ngram-cache,draft-mtp", "--spec-ngram-simple-size-n", "4",
             "--spec-ngram-simple-size-m", "7", "--spec-draft-n-max", "3"}));
}

TEST(ServerArguments, have_draft_tokens_picked_on_the_host_where_the_arm_says_so) {
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::draft_mtp;
  setup.backend_sampling = false;
  EXPECT_EQ(drafting_words(setup),
            (Words{"--spec-type", "draft-mtp", "--no-spec-draft-backend-sampling"}));
  EXPECT_FALSE(check_user_arguments({"--no-spec-draft-backend-sampling"}));
}

TEST(ServerArguments, force_acceptance_as_llama_server_does) {
  trace::Setup setup = plain();
  setup.spec_type = trace::SpecType::draft_mtp;
  setup.forced = trace::ForcedAcceptance{.length = 2.5, .schedule = {}, .rates = {}};
  EXPECT_EQ(drafting_words(setup), (Words{"--spec-type", "draft-mtp", "--spec-synth-len", "2.5"}));
  setup.forced = trace::ForcedAcceptance{.length = {}, .schedule = {}, .rates = {0.75, 0.5}};
  EXPECT_EQ(drafting_words(setup),
            (Words{"--spec-type", "draft-mtp", "--spec-synth-rates", "0.75,0.5"}));
}

TEST(UserArguments, with_a_secret_are_refused_without_repeating_it) {
  for (const Words& words : {Words{"--api-key", "s3cret"}, Words{"--api-key=s3cret"},
                             Words{"-fa", "on", "-hft", "s3cret"}, Words{"--hf-token", "s3cret"}}) {
    const auto checked = check_user_arguments(words);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, util::ErrorKind::usage);
    EXPECT_THAT(checked.error().message, Not(HasSubstr("s3cret")));
    EXPECT_THAT(checked.error().message, HasSubstr("would be recorded"));
  }
}

TEST(UserArguments, that_would_make_the_report_lie_are_refused) {
  for (const char* name :
       {"-m", "--model", "-md", "-t", "-c", "--spec-type", "-np", "--temp", "-ctk",
        "--cache-type-v", "-ctkd", "--cache-type-v-draft", "--spec-draft-type-v"})
    EXPECT_FALSE(check_user_arguments({name, "x"})) << name;
  EXPECT_FALSE(check_user_arguments({"--threads=2"}));
  EXPECT_TRUE(check_user_arguments({"-ngl", "99", "-fa", "on"}));
}

TEST(UserArguments, that_move_the_server_are_refused) {
  for (const char* name : {"--host", "--port", "--api-prefix", "--ssl-key-file"})
    EXPECT_FALSE(check_user_arguments({name, "x"})) << name;
  EXPECT_TRUE(check_user_arguments({"-fa", "on", "--api-key-file", "keys"}));
}

TEST(CommandText, is_what_a_shell_takes) {
  EXPECT_EQ(command_text({"/opt/a b/llama-server", "-m", "it's", "", "x=1,2"}, {}),
            R"('/opt/a b/llama-server' -m 'it'\''s' '' x=1,2)");
}

TEST(CommandText, holds_the_variables_that_set_the_server_up_and_no_secret) {
  EXPECT_EQ(command_text({"s"}, {"LLAMA_ARG_CTX_SIZE=512", "HOME=/root", "LLAMA_API_KEY=k",
                                 "LLAMA_ARG_API_KEY_FILE=f", "LLAMA_ARG_HF_TOKEN=t", "GGML_X=a b"}),
            "LLAMA_ARG_CTX_SIZE=512 GGML_X='a b' s");
}

}  // namespace
}  // namespace paceline::engine::server
