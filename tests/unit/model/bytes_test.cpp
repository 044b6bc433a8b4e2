#include "model/bytes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "model/facts.hpp"
#include "model/json.hpp"
#include "support/gguf_builder.hpp"

namespace paceline::model {
namespace {

using support::GgufBuilder;

FileFacts facts(const GgufBuilder& builder) {
  const std::string bytes = builder.bytes();
  const MemorySource source(bytes);
  return facts_of(Gguf::read(source, "m.gguf").value());
}

std::map<std::string, double> by_class(const ReadFacts& reads, const PassShape& shape) {
  std::map<std::string, double> found;
  const auto classes = bytes_of_pass(reads, shape);
  for (const BytesOfClass& one : *classes) found[one.name] = one.bytes;
  return found;
}

constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t f16 = 1;

/// Two layers of width 64 with 2 heads of 32 and one of keys, all of it F16 but the norms.
GgufBuilder two_layers(const std::string& architecture) {
  GgufBuilder builder(architecture);
  const auto key = [&](const char* name) { return architecture + "." + name; };
  builder.u32(key("block_count"), 2)
      .u32(key("embedding_length"), 64)
      .u32(key("attention.head_count"), 2)
      .u32(key("attention.head_count_kv"), 1)
      .tensor("token_embd.weight", {64, 100}, f16, 12800)
      .tensor("output_norm.weight", {64}, f32, 256);
  for (const std::string block : {"blk.0.", "blk.1."})
    builder.tensor(block + "attn_norm.weight", {64}, f32, 256)
        .tensor(block + "attn_q.weight", {64, 64}, f16, 8192)
        .tensor(block + "attn_k.weight", {64, 32}, f16, 4096)
        .tensor(block + "attn_v.weight", {64, 32}, f16, 4096)
        .tensor(block + "attn_output.weight", {64, 64}, f16, 8192)
        .tensor(block + "ffn_norm.weight", {64}, f32, 256);
  return builder;
}

GgufBuilder dense(const std::string& architecture = "llama") {
  GgufBuilder builder = two_layers(architecture);
  for (const std::string block : {"blk.0.", "blk.1."})
    builder.tensor(block + "ffn_up.weight", {64, 128}, f16, 16384)
        .tensor(block + "ffn_down.weight", {128, 64}, f16, 16384);
  return builder;
}

GgufBuilder mixture() {
  GgufBuilder builder = two_layers("qwen3moe");
  builder.u32("qwen3moe.expert_count", 8).u32("qwen3moe.expert_used_count", 2);
  for (const std::string block : {"blk.0.", "blk.1."})
    builder.tensor(block + "ffn_gate_inp.weight", {64, 8}, f32, 2048)
        .tensor(block + "ffn_up_exps.weight", {64, 16, 8}, f16, 16384)
        .tensor(block + "ffn_down_exps.weight", {16, 64, 8}, f16, 16384);
  return builder;
}

TEST(BytesOfPass, OfOneTokenAreTheWeightsOneRowAndTheCellsThatArePaddedTo256) {
  const auto found = by_class(*facts(dense()).reads, {.width = 1, .depth = 10});
  EXPECT_EQ(found.at("embedding"), 128) << "one row of 64 in F16";
  EXPECT_EQ(found.at("attention"), 2 * (8192 + 4096 + 4096 + 8192));
  EXPECT_EQ(found.at("feed-forward"), 2 * 2 * 16384);
  EXPECT_EQ(found.at("head"), 12800) << "the embedding is the head too, and is read whole";
  EXPECT_EQ(found.at("norms"), 256 + 4 * 256);
  EXPECT_EQ(found.at("KV"), 2 * 256 * (32 + 32) * 2) << "2 layers, 256 cells, F16";
  EXPECT_EQ(found.size(), 6u);
}

TEST(BytesOfPass, OfAHeadOfItsOwnAreThatHeadAlone) {
  const auto found =
      by_class(*facts(dense().tensor("output.weight", {64, 100}, 8, 6800)).reads, {.width = 1});
  EXPECT_EQ(found.at("head"), 6800);
  EXPECT_EQ(found.at("embedding"), 128);
}

TEST(BytesOfPass, GrowWithTheDepthByWholeStepsAndWithTheTypesOfTheCache) {
  const ReadFacts reads = *facts(dense()).reads;
  const auto cells = [&](PassShape shape) {
    return by_class(reads, shape).at("KV") / (2 * 64 * 2);
  };
  EXPECT_EQ(cells({.width = 1, .depth = 255}), 256);
  EXPECT_EQ(cells({.width = 1, .depth = 256}), 512);
  EXPECT_EQ(cells({.width = 8, .depth = 249}), 512);
  EXPECT_EQ(cells({.width = 1, .depth = 4095}), 4096);
  EXPECT_EQ(cells({.width = 1, .depth = 10, .n_ctx = 100}), 256) << "a context is padded too";
  // A block of q8_0 is 34 bytes for 32 elements, of q4_0 18: cells of 32 + 32 elements.
  const PassShape quantised{.width = 1, .depth = 0, .cache_type_k = "q8_0", .cache_type_v = "q4_0"};
  EXPECT_EQ(by_class(reads, quantised).at("KV"), 2 * 256 * (34 + 18));
}

TEST(BytesOfPass, OfMoreTokensThanAreComputedAtOnceReadTheWeightsAgain) {
  const ReadFacts reads = *facts(dense()).reads;
  const auto found = by_class(reads, {.width = 1025, .depth = 0, .n_ubatch = 512});
  EXPECT_EQ(found.at("embedding"), 1025 * 128);
  EXPECT_EQ(found.at("feed-forward"), 3 * 2 * 2 * 16384);
  EXPECT_EQ(found.at("KV"), 2 * (512 + 1024 + 1280) * 64 * 2);
}

TEST(BytesOfPass, OfExpertsAreThoseUsedByOneTokenAndAModelForMore) {
  const FileFacts file = facts(mixture());
  ASSERT_TRUE(file.reads) << file.reads_unknown;
  constexpr double all = 2 * 2 * 16384;
  EXPECT_EQ(by_class(*file.reads, {.width = 1}).at("experts"), all * 2 / 8);
  // Four tokens of 2 in 8 each leave a given expert out with (3/4)^4.
  EXPECT_DOUBLE_EQ(by_class(*file.reads, {.width = 4}).at("experts"), all * (1 - 81.0 / 256));
  EXPECT_EQ(by_class(*file.reads, {.width = 4, .experts_per_layer = 3.5}).at("experts"),
            all * 3.5 / 8);
  EXPECT_EQ(by_class(*file.reads, {.width = 4}).at("router"), 2 * 2048);
  const auto four = bytes_of_pass(*file.reads, {.width = 4}).value();
  for (const auto& one : four) EXPECT_EQ(one.is_model, one.name == "experts");
  const auto single = bytes_of_pass(*file.reads, {.width = 1}).value();
  for (const auto& one : single) EXPECT_FALSE(one.is_model);
}

TEST(BytesOfPass, OfLayersWithAWindowEndAtTheirCacheAsAllocated) {
  const ReadFacts reads = *facts(dense("muse-glimmer")
                                     .u32("muse-glimmer.attention.sliding_window", 128)
                                     .u32s("muse-glimmer.attention.sliding_window_pattern", {1, 0}))
                               .reads;
  const auto cells = [&](PassShape shape) { return by_class(reads, shape).at("KV") / (64 * 2); };
  // The window's cache has 128 + 512 cells, which is 768 in steps of 256.
  EXPECT_EQ(cells({.width = 1, .depth = 1000}), 1024 + 768);
  EXPECT_EQ(cells({.width = 1, .depth = 300}), 512 + 512);
  EXPECT_EQ(cells({.width = 1, .depth = 1000, .swa_full = true}), 1024 + 1024);
  EXPECT_EQ(cells({.width = 1, .depth = 500, .n_ctx = 512}), 512 + 512);
}

TEST(BytesOfPass, OfLayersThatShareCellsReadThoseAndStoreNone) {
  const auto gemma = [](std::uint32_t shared) {
    GgufBuilder builder("gemma4");
    builder.u32("gemma4.block_count", 4)
        .u32("gemma4.embedding_length", 64)
        .u32("gemma4.attention.head_count", 2)
        .u32s("gemma4.attention.head_count_kv", {1, 2, 1, 2})
        .u32("gemma4.attention.key_length", 64)
        .u32("gemma4.attention.value_length", 64)
        .u32("gemma4.attention.key_length_swa", 32)
        .u32("gemma4.attention.value_length_swa", 32)
        .u32("gemma4.attention.sliding_window", 128)
        .u32s("gemma4.attention.sliding_window_pattern", {1, 0, 1, 0})
        .u32("gemma4.attention.shared_kv_layers", shared)
        .tensor("token_embd.weight", {64, 100}, f16, 12800);
    for (const std::string block : {"blk.0.", "blk.1.", "blk.2.", "blk.3."})
      builder.tensor(block + "attn_q.weight", {64, 64}, f16, 8192)
          .tensor(block + "attn_k.weight", {64, 64}, f16, 8192);
    return facts(builder);
  };
  const PassShape deep{.width = 1, .depth = 1000};
  const double cells = 2 * 768 * (32 + 32) * 2 + 2 * 1024 * (128 + 128) * 2;
  const FileFacts own = gemma(0);
  ASSERT_TRUE(own.reads) << own.reads_unknown;
  EXPECT_EQ(by_class(*own.reads, deep).at("KV"), cells);
  EXPECT_EQ(by_class(*own.reads, deep).at("attention"), 8 * 8192);
  EXPECT_EQ(by_class(*gemma(2).reads, deep).at("KV"), cells);
  EXPECT_EQ(by_class(*gemma(2).reads, deep).at("attention"), 6 * 8192)
      << "keys of the last two layers are not computed";
  EXPECT_FALSE(gemma(3).reads) << "no layer of either kind would be left to share with";
}

/// One recurrent layer, one that attends, and one block for prediction.
GgufBuilder hybrid() {
  GgufBuilder builder("qwen35");
  builder.u32("qwen35.block_count", 3)
      .u32("qwen35.nextn_predict_layers", 1)
      .u32("qwen35.full_attention_interval", 2)
      .u32("qwen35.embedding_length", 64)
      .u32("qwen35.attention.head_count", 2)
      .u32("qwen35.attention.head_count_kv", 1)
      .u32("qwen35.ssm.conv_kernel", 4)
      .u32("qwen35.ssm.inner_size", 96)
      .u32("qwen35.ssm.state_size", 16)
      .u32("qwen35.ssm.group_count", 2)
      .tensor("token_embd.weight", {64, 100}, f16, 12800)
      .tensor("output.weight", {64, 100}, f16, 12800)
      .tensor("output_norm.weight", {64}, f32, 256)
      .tensor("blk.0.attn_qkv.weight", {64, 160}, f16, 20480)
      .tensor("blk.0.ssm_conv1d.weight", {4, 160}, f32, 2560)
      .tensor("blk.1.attn_q.weight", {64, 128}, f16, 16384)
      .tensor("blk.2.attn_q.weight", {64, 128}, f16, 16384)
      .tensor("blk.2.nextn.eh_proj.weight", {128, 64}, f16, 16384);
  return builder;
}

TEST(BytesOfPass, OfRecurrentLayersAreTheirStateHoweverDeepAndNothingOfThePredictionBlocks) {
  const FileFacts file = facts(hybrid());
  ASSERT_TRUE(file.reads) << file.reads_unknown;
  // 3 columns of 96 + 2 x 2 x 16 that the convolution remembers, and 16 x 96, in F32.
  constexpr double state = 4 * (3 * (96 + 2 * 2 * 16) + 16 * 96);
  for (const int depth : {0, 3000}) {
    const auto found = by_class(*file.reads, {.width = 4, .depth = depth});
    EXPECT_EQ(found.at("recurrent state"), state);
    EXPECT_EQ(found.at("linear attention"), 20480 + 2560);
    EXPECT_EQ(found.at("attention"), 16384);
    EXPECT_EQ(found.at("head"), 12800);
    EXPECT_EQ(found.count("drafter parts"), 0u);
  }
  EXPECT_EQ(by_class(*file.reads, {.width = 1, .depth = 0}).at("KV"), 256 * 64 * 2);
  ASSERT_TRUE(file.drafter && file.drafter->reads);
  const auto predicting = by_class(*file.drafter->reads, {.width = 1, .depth = 0});
  EXPECT_EQ(predicting.at("drafter parts"), 16384);
  EXPECT_EQ(predicting.at("attention"), 16384);
  EXPECT_EQ(predicting.at("head"), 12800) << "the target's, as the block has none of its own";
  EXPECT_EQ(predicting.at("norms"), 256) << "likewise";
  EXPECT_EQ(predicting.at("KV"), 256 * 64 * 2);
  EXPECT_EQ(predicting.count("recurrent state"), 0u);
}

TEST(BytesOfPass, OfBlockDraftersAreTheirOwnAndWhatTheyBorrow) {
  const FileFacts drafter = facts(GgufBuilder("dflash")
                                      .u32("dflash.block_count", 1)
                                      .u32("dflash.embedding_length", 64)
                                      .u32("dflash.attention.head_count", 2)
                                      .u32("dflash.attention.head_count_kv", 1)
                                      .tensor("fc.weight", {128, 64}, f16, 16384)
                                      .tensor("markov_w1.weight", {16, 100}, f16, 3200)
                                      .tensor("markov_w2.weight", {16, 100}, f16, 3200)
                                      .tensor("blk.0.attn_q.weight", {64, 64}, f16, 8192)
                                      .tensor("blk.0.attn_k.weight", {64, 32}, f16, 4096)
                                      .tensor("blk.0.attn_v.weight", {64, 32}, f16, 4096));
  ASSERT_TRUE(drafter.reads) << drafter.reads_unknown;
  EXPECT_EQ(drafter.reads->borrowed, (std::vector<std::string>{"embedding", "head"}));
  const ReadFacts whole = with_borrowed(*drafter.reads, *facts(dense()).reads);
  const PassShape block{.width = 8, .depth = 0};
  const auto found = by_class(whole, block);
  EXPECT_EQ(found.at("embedding"), 8 * 128);
  EXPECT_EQ(found.at("head"), 12800);
  EXPECT_EQ(found.at("attention"), 8192 + 4096 + 4096);
  EXPECT_EQ(found.at("drafter parts"), 8 * (32 + 3200)) << "the Markov head for each place";
  // What it takes in passes the fusing matrix, and becomes keys and values.
  EXPECT_EQ(total_bytes(bytes_of_taking_in(whole, block).value()), 16384 + 4096 + 4096);
}

TEST(BytesOfPass, AreNotKnownWhereNoRuleIs) {
  const auto why = [](const GgufBuilder& builder) {
    const FileFacts file = facts(builder);
    EXPECT_FALSE(file.reads);
    return file.reads_unknown;
  };
  EXPECT_NE(why(dense("mamba")).find("'mamba'"), std::string::npos);
  EXPECT_NE(why(dense().tensor("blk.0.novelty.weight", {64}, f32, 256)).find("novelty"),
            std::string::npos);
  EXPECT_NE(why(dense().tensor("blk.7.attn_q.weight", {64}, f32, 256)).find("blk.7"),
            std::string::npos);
  EXPECT_NE(why(GgufBuilder("llama").tensor("output_norm.weight", {64}, f32, 256))
                .find("llama.block_count"),
            std::string::npos);
  EXPECT_NE(why(dense("muse-glimmer")).find("sliding_window"), std::string::npos);
}

TEST(BytesOfPass, RefuseShapesThatCannotBe) {
  const ReadFacts reads = *facts(dense()).reads;
  EXPECT_FALSE(bytes_of_pass(reads, {.width = 0}));
  EXPECT_FALSE(bytes_of_pass(reads, {.width = 1, .depth = -1}));
  EXPECT_FALSE(bytes_of_pass(reads, {.width = 1, .depth = 4096}));
  EXPECT_FALSE(bytes_of_pass(reads, {.width = 1, .depth = 0, .n_ubatch = 0}));
  EXPECT_FALSE(bytes_of_pass(reads, {.width = 1, .cache_type_k = "f17"}));
}

TEST(BytesOfPass, SurviveJson) {
  const ReadFacts reads = *facts(mixture()).reads;
  const auto back = util::from_json_value<ReadFacts>(util::Json(reads), "reads");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(util::dump_json(*back), util::dump_json(reads));
}

}  // namespace
}  // namespace paceline::model
