#include "model/facts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/json.hpp"
#include "model/recipe.hpp"
#include "support/gguf_builder.hpp"

namespace paceline::model {
namespace {

using support::GgufBuilder;
using support::small_model;

FileFacts facts(const GgufBuilder& builder) {
  const std::string bytes = builder.bytes();
  const MemorySource source(bytes);
  return facts_of(Gguf::read(source, "folder/m.gguf").value());
}

TEST(PlaceOf, LeavesBlockNumberAndWeightOut) {
  const auto place = [](const std::string& name) {
    const TensorPlace found = place_of(name);
    return found.tensor_class + " " + std::to_string(found.block);
  };
  EXPECT_EQ(place("blk.12.attn_q.weight"), "attn_q 12");
  EXPECT_EQ(place("blk.0.attn_q.bias"), "attn_q.bias 0") << "a bias stays a bias";
  EXPECT_EQ(place("blk.6.nextn.eh_proj.weight"), "nextn.eh_proj 6");
  EXPECT_EQ(place("v.blk.3.ln1.weight"), "v.ln1 3");
  EXPECT_EQ(place("token_embd.weight"), "token_embd -1");
  EXPECT_EQ(place("output_norm.weight"), "output_norm -1");
  EXPECT_EQ(place("blk.x.attn_q.weight"), "blk.x.attn_q -1");
  EXPECT_EQ(place("blk.99999999999.a"), "blk.99999999999.a -1");
  EXPECT_EQ(place("blk."), "blk. -1");
  EXPECT_EQ(place(".weight"), ".weight -1");
}

TEST(Facts, TellSyntheticFilesFromOthers) {
  EXPECT_FALSE(facts(small_model()).synthetic);
  EXPECT_FALSE(facts(GgufBuilder("a").flag("paceline.synthetic", false)).synthetic);
  EXPECT_EQ(facts(GgufBuilder("a").flag("paceline.synthetic", true)).synthetic, "");
  EXPECT_EQ(facts(GgufBuilder("a")
                      .flag("paceline.synthetic", true)
                      .text("paceline.synthetic.made_as", "llama, seed 1"))
                .synthetic,
            "llama, seed 1");
}

TEST(Facts, SumTensorsUpByClassAndType) {
  GgufBuilder builder("llama");
  builder.tensor("token_embd.weight", {32, 2}, 8, 68);
  for (int block = 0; block < 5; ++block)
    builder.tensor("blk." + std::to_string(block) + ".ffn_down.weight", {256, 1},
                   block == 3 ? 14 : 12, block == 3 ? 210 : 144);
  const FileFacts found = facts(builder);
  ASSERT_EQ(found.recipe.size(), 3u);
  EXPECT_EQ(found.recipe[0].tensor_class, "token_embd");
  EXPECT_EQ(found.recipe[0].blocks, "");
  EXPECT_EQ(found.recipe[1].type, "q4_K");
  EXPECT_EQ(found.recipe[1].tensors, 4);
  EXPECT_EQ(found.recipe[1].elements, 1024u);
  EXPECT_EQ(found.recipe[1].bytes, 576u);
  EXPECT_EQ(found.recipe[1].blocks, "0-2, 4");
  EXPECT_EQ(found.recipe[2].type, "q6_K");
  EXPECT_EQ(found.recipe[2].bytes, 210u);
  EXPECT_EQ(found.recipe[2].blocks, "3");
  EXPECT_EQ(found.parameters, 64u + 5 * 256);
}

TEST(Facts, StayFewHoweverManyClassesAFileHas) {
  GgufBuilder builder("llama");
  for (int i = 0; i < 1000; ++i) builder.tensor("class" + std::to_string(i), {16}, 1, 32);
  const FileFacts found = facts(builder);
  EXPECT_EQ(found.recipe.size(), 201u);
  EXPECT_EQ(found.recipe.back().tensor_class, "(other classes)");
  EXPECT_EQ(found.recipe.back().tensors, 800);
  EXPECT_EQ(found.parameters, 16'000u) << "nothing is left out of the sums";
}

TEST(Facts, SayWhatTheFileCallsItselfAndHowItWasMade) {
  const FileFacts found = facts(small_model()
                                    .u32("general.file_type", 15)
                                    .text("general.name", "A model")
                                    .text("quantize.imatrix.file", "i.dat")
                                    .u32("quantize.imatrix.entries_count", 224)
                                    .f32("general.sampling.temp", 0.6f)
                                    .u32("general.sampling.top_k", 20)
                                    .text("tokenizer.chat_template", "{{ messages }}"));
  EXPECT_EQ(found.file_type, "Q4_K_M");
  EXPECT_EQ(found.name, "A model");
  EXPECT_EQ(found.imatrix->file, "i.dat");
  EXPECT_EQ(found.imatrix->entries, 224);
  EXPECT_EQ(found.imatrix->dataset, std::nullopt);
  EXPECT_EQ(found.sampling, (std::map<std::string, std::string>{{"general.sampling.temp", "0.6"},
                                                                {"general.sampling.top_k", "20"}}));
  EXPECT_TRUE(found.has_chat_template);
  EXPECT_EQ(found.vocabulary, 8);
  EXPECT_EQ(found.context_train, 64);
  EXPECT_TRUE(found.oddities.empty());
  EXPECT_FALSE(facts(small_model()).imatrix.has_value());
  EXPECT_FALSE(facts(small_model()).file_type.has_value());
  EXPECT_FALSE(facts(small_model()).has_chat_template);
}

TEST(Facts, LeaveOutNumbersThatMakeNoSense) {
  const FileFacts found = facts(GgufBuilder("a").u32("a.block_count", ~0U).tensor("t", {4}, 0, 16));
  EXPECT_EQ(found.layers, std::nullopt);
  ASSERT_EQ(found.oddities.size(), 1u);
  EXPECT_EQ(found.oddities[0], "a.block_count is 4294967295, which makes no sense");
}

TEST(Facts, CutTextsThatGoOnForLong) {
  const FileFacts found = facts(small_model().text("general.name", std::string(100'000, 'n')));
  EXPECT_EQ(found.name, std::string(200, 'n') + ".. (100000 bytes)");
}

TEST(Facts, TellTheDrafterKindsApart) {
  const auto kind = [](const GgufBuilder& builder) {
    const auto found = facts(builder).drafter;
    return found ? found->kind : std::string("none");
  };
  const auto of = [](const std::string& architecture) {
    return GgufBuilder(architecture).tensor("fc.weight", {4, 4}, 1, 32);
  };
  EXPECT_EQ(kind(of("llama")), "none");
  EXPECT_EQ(kind(of("dflash")), "dflash");
  EXPECT_EQ(kind(of("dflash").u32("dflash.selector_top_k", 8)), "dflash2");
  EXPECT_EQ(kind(of("dflash").u32("dflash.selector_top_k", 0)), "dflash");
  EXPECT_EQ(kind(of("dflash").tensor("markov_w1.weight", {4, 4}, 1, 32)), "dspark");
  EXPECT_EQ(kind(of("eagle3").u32s("eagle3.target_layers", {1, 2, 3})), "eagle3");
  EXPECT_EQ(kind(of("gemma4-assistant")), "gemma4-assistant");
}

TEST(Facts, SayHowFarABlockDrafterDraftsAtMost) {
  const auto longest = [](const GgufBuilder& builder) {
    return facts(builder).drafter->longest_draft;
  };
  const auto block = [](const char* architecture) {
    const std::string key = std::string(architecture) + ".block_size";
    return GgufBuilder(architecture).u32(key, 8).tensor("fc.weight", {4, 4}, 1, 32);
  };
  EXPECT_EQ(longest(block("dflash")), 7);
  EXPECT_EQ(longest(block("dflash").tensor("markov_w1.weight", {4, 4}, 1, 32)), 8);
  EXPECT_FALSE(longest(GgufBuilder("eagle3").tensor("fc.weight", {4, 4}, 1, 32)).has_value());
}

TEST(Facts, SurviveJson) {
  const FileFacts found = facts(small_model().text("general.name", "\xff\n"));
  const auto back = util::from_json_value<FileFacts>(util::Json(found), "facts");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(util::dump_json(*back), util::dump_json(found));
  EXPECT_EQ(back->name, "\\xff\\x0a");
}

TEST(Facts, SayHowPositionsAreStretched) {
  const auto scaling = [](const GgufBuilder& builder) { return facts(builder).rope_scaling; };
  EXPECT_FALSE(scaling(small_model()));
  const auto yarn = scaling(small_model()
                                .text("llama.rope.scaling.type", "yarn")
                                .f32("llama.rope.scaling.factor", 4)
                                .u32("llama.rope.scaling.original_context_length", 16));
  ASSERT_TRUE(yarn);
  EXPECT_EQ(yarn->type, "yarn");
  EXPECT_EQ(yarn->factor, 4);
  EXPECT_EQ(yarn->original_context, 16);
  const auto old = scaling(small_model().f32("llama.rope.scale_linear", 2));
  ASSERT_TRUE(old) << "an old file's key, which llama.cpp reads too";
  EXPECT_EQ(old->type, "linear");
  EXPECT_EQ(old->factor, 2);
  EXPECT_EQ(old->original_context, std::nullopt);
  EXPECT_FALSE(scaling(small_model().f32("llama.rope.scaling.factor", 0))) << "that is none";
  const auto odd = facts(small_model().f32("llama.rope.scaling.factor", -1));
  EXPECT_FALSE(odd.rope_scaling);
  ASSERT_EQ(odd.oddities.size(), 1u);
  EXPECT_NE(odd.oddities[0].find("scaling.factor is -1"), std::string::npos) << odd.oddities[0];
}

}  // namespace
}  // namespace paceline::model
