#include "model/placing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/bytes.hpp"
#include "model/facts.hpp"
#include "support/gguf_builder.hpp"
#include "synth/head.hpp"
#include "synth/plan.hpp"

namespace paceline::model {
namespace {

using support::GgufBuilder;

constexpr std::uint32_t type_f32 = 0;
constexpr std::uint32_t type_f16 = 1;
constexpr double cells_of_layer = 256 * (32 + 32) * 2;  // in F16

Gguf placed_head(const GgufBuilder& builder) {
  const std::string bytes = builder.bytes();
  const MemorySource source(bytes);
  return Gguf::read(source, "m.gguf").value();
}

double placed_bytes(const ReadFacts& reads, const PassShape& shape = {}) {
  return total_bytes(bytes_of_pass(reads, shape).value());
}

std::map<std::string, double> placed_classes(const ReadFacts& reads, const PassShape& shape = {}) {
  std::map<std::string, double> found;
  const auto classes = bytes_of_pass(reads, shape).value();
  for (const BytesOfClass& one : classes) found[one.name] = one.bytes;
  return found;
}

/// Width 64 with 2 heads of 32 and one of keys.
GgufBuilder wide_64(const std::string& architecture, std::uint32_t blocks) {
  GgufBuilder builder(architecture);
  const auto key = [&](const char* name) { return architecture + "." + name; };
  builder.u32(key("block_count"), blocks)
      .u32(key("embedding_length"), 64)
      .u32(key("attention.head_count"), 2)
      .u32(key("attention.head_count_kv"), 1)
      .tensor("token_embd.weight", {64, 100}, type_f16, 12800)
      .tensor("output_norm.weight", {64}, type_f32, 256);
  return builder;
}

/// Three layers, each with more weights than the one before; the head is the embedding.
GgufBuilder growing() {
  GgufBuilder builder = wide_64("llama", 3);
  builder.tensor("rope_freqs.weight", {16}, type_f32, 64)
      .tensor("blk.0.ffn_up.weight", {64, 10}, type_f16, 1280)
      .tensor("blk.1.ffn_up.weight", {64, 20}, type_f16, 2560)
      .tensor("blk.2.ffn_up.weight", {64, 40}, type_f16, 5120);
  return builder;
}

TEST(PlacedReads, TheOutputIsTheFirstLayerOnTheDeviceAndBlocksFollowFromTheLast) {
  const Gguf head = placed_head(growing());
  constexpr double output = 12800 + 256;  // a tied head is a copy of its own
  constexpr double last = 5120 + cells_of_layer;
  constexpr double middle = 2560 + cells_of_layer;
  constexpr double first = 1280 + cells_of_layer + 64;  // with the frequencies
  const std::vector<double> on_device = {0, output, output + last, output + last + middle,
                                         output + last + middle + first};
  for (const int layers : {0, 1, 2, 3, 4, 5, 99}) {
    const PlacedReads placed = placed_reads_of(head, layers).value();
    const double device = on_device[static_cast<std::size_t>(std::min(layers, 4))];
    EXPECT_EQ(placed_bytes(placed.device.target), device) << layers;
    EXPECT_EQ(placed_bytes(placed.cpu.target), on_device.back() + 128 - device) << layers;
  }
}

TEST(PlacedReads, OneRowOfTheEmbeddingIsAllThatTheCpuIsLeftWith) {
  const PlacedReads placed = placed_reads_of(placed_head(growing()), 4).value();
  EXPECT_EQ(placed_classes(placed.cpu.target), (std::map<std::string, double>{{"embedding", 128}}));
  EXPECT_EQ(placed_classes(placed.device.target).count("embedding"), 0u);
}

TEST(PlacedReads, StatesAreWhereTheirLayersAreAndPredictionBlocksCountAsTheLastLayers) {
  GgufBuilder builder = wide_64("qwen35", 4);
  builder.u32("qwen35.nextn_predict_layers", 1)
      .u32("qwen35.full_attention_interval", 3)
      .u32("qwen35.ssm.conv_kernel", 4)
      .u32("qwen35.ssm.inner_size", 96)
      .u32("qwen35.ssm.state_size", 16)
      .u32("qwen35.ssm.group_count", 2)
      .tensor("output.weight", {64, 90}, type_f16, 11520)
      .tensor("blk.0.attn_qkv.weight", {64, 160}, type_f16, 20480)
      .tensor("blk.1.attn_qkv.weight", {64, 160}, type_f16, 20480)
      .tensor("blk.2.attn_q.weight", {64, 128}, type_f16, 16384)
      .tensor("blk.3.nextn.eh_proj.weight", {128, 64}, type_f16, 16384)
      .tensor("blk.3.attn_q.weight", {64, 120}, type_f16, 15360);
  const Gguf head = placed_head(builder);
  constexpr double output = 11520 + 256;
  constexpr double attending = 16384 + cells_of_layer;
  // 3 columns of 96 + 2 x 2 x 16 that the convolution remembers, and 16 x 96, in F32.
  constexpr double recurrent = 20480 + 4 * (3 * (96 + 2 * 2 * 16) + 16 * 96);
  const std::vector<double> target = {0,
                                      output,
                                      output,
                                      output + attending,
                                      output + attending + recurrent,
                                      output + attending + 2 * recurrent};
  constexpr double block = 16384 + 15360 + cells_of_layer;
  for (int layers = 0; layers <= 5; ++layers) {
    const PlacedReads placed = placed_reads_of(head, layers).value();
    EXPECT_EQ(placed_bytes(placed.device.target), target[static_cast<std::size_t>(layers)])
        << layers;
    ASSERT_TRUE(placed.device.prediction && placed.cpu.prediction);
    // The head and the norm before it are the target's.
    EXPECT_EQ(placed_bytes(*placed.device.prediction),
              (layers > 0 ? output : 0) + (layers > 1 ? block : 0))
        << layers;
    EXPECT_EQ(placed_bytes(*placed.cpu.prediction),
              128 + (layers > 0 ? 0 : output) + (layers > 1 ? 0 : block))
        << layers;
  }
}

TEST(PlacedReads, CellsThatLayersShareAreWhereTheyWereStored) {
  GgufBuilder builder("gemma4");
  builder.u32("gemma4.block_count", 4)
      .u32("gemma4.embedding_length", 64)
      .u32("gemma4.attention.head_count", 2)
      .u32("gemma4.attention.head_count_kv", 1)
      .u32("gemma4.attention.sliding_window", 128)
      .u32s("gemma4.attention.sliding_window_pattern", {1, 0, 1, 0})
      .u32("gemma4.attention.shared_kv_layers", 2)
      .tensor("token_embd.weight", {64, 100}, type_f16, 12800)
      .tensor("per_layer_token_embd.weight", {64, 100}, type_f16, 12800)
      .tensor("per_layer_model_proj.weight", {64, 64}, type_f16, 8192)
      .tensor("rope_freqs.weight", {16}, type_f32, 64);
  for (const std::string block : {"blk.0.", "blk.1.", "blk.2.", "blk.3."})
    builder.tensor(block + "attn_q.weight", {64, 64}, type_f16, 8192);
  const Gguf head = placed_head(builder);
  // The last two layers read what layer 0 and layer 1 have stored, which lie with those.
  const auto two = placed_classes(placed_reads_of(head, 3)->device.target);
  EXPECT_EQ(two, (std::map<std::string, double>{{"head", 12800}, {"attention", 2 * 8192}}));
  const auto three = placed_classes(placed_reads_of(head, 4)->device.target);
  EXPECT_EQ(three.at("KV"), 2 * cells_of_layer) << "of layer 1, for itself and for layer 3";
  EXPECT_EQ(three.at("norms"), 64) << "frequencies are for layers without a window";
  EXPECT_EQ(three.count("per-layer input"), 0u);
  const PlacedReads all = placed_reads_of(head, 5).value();
  EXPECT_EQ(placed_classes(all.device.target).at("per-layer input"), 8192);
  EXPECT_EQ(placed_classes(all.cpu.target),
            (std::map<std::string, double>{{"embedding", 128}, {"per-layer table", 128}}));
}

protocol::Invent invention(const char* architecture,
                           std::map<std::string, std::int64_t> numbers = {}) {
  protocol::Invent job;
  job.architecture = architecture;
  job.shape = std::move(numbers);
  return job;
}

void expect_both_to_be_the_whole(const protocol::Invent& job) {
  const Gguf head = synth::head_of(synth::plan(job).value());
  const FileFacts whole = facts_of(head);
  ASSERT_TRUE(whole.reads) << whole.reads_unknown;
  for (int layers = 0; layers <= *whole.layers + 1; ++layers) {
    const PlacedReads placed = placed_reads_of(head, layers).value();
    for (const int width : {1, 8, 600})
      for (const int depth : {0, 900}) {
        const PassShape pass{.width = width, .depth = depth};
        EXPECT_DOUBLE_EQ(
            placed_bytes(placed.cpu.target, pass) + placed_bytes(placed.device.target, pass),
            placed_bytes(*whole.reads, pass))
            << job.architecture << ", " << layers << " layers, width " << width << ", depth "
            << depth;
      }
  }
}

TEST(PlacedReads, OfBothPlacesTogetherAreThoseOfOneWhateverTheArchitecture) {
  for (const std::string& architecture : synth::model_kinds())
    expect_both_to_be_the_whole(invention(architecture.c_str()));
  expect_both_to_be_the_whole(invention("llama", {{"tied", 1}}));
  expect_both_to_be_the_whole(invention("gemma4", {{"interval", 2}}));
  expect_both_to_be_the_whole(invention("qwen35", {{"mtp", 1}}));
}

TEST(PlacedReads, AnNGramTableStaysOnTheCpuAndItsStateIsWithItsLayer) {
  const Gguf head = synth::head_of(synth::plan(invention("qwen4exp")).value());
  const FileFacts whole = facts_of(head);
  const PlacedReads all = placed_reads_of(head, *whole.layers + 1).value();
  const auto cpu = placed_classes(all.cpu.target);
  EXPECT_EQ(cpu.size(), 2u);
  EXPECT_EQ(cpu.count("embedding") + cpu.count("n-gram table"), 2u);
  EXPECT_EQ(all.device.target.recurrent_bytes, whole.reads->recurrent_bytes);
}

}  // namespace
}  // namespace paceline::model
