#include "worker/llama/ballast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace paceline::worker {
namespace {

// A target of 2 trunk layers (the first recurrent) and a prediction block, feed-forward 64.
std::vector<SourceTensor> small_target() {
  return {{"token_embd.weight", GGML_TYPE_F16, {16, 100}},
          {"blk.0.ssm_out.weight", GGML_TYPE_F16, {8, 16}},
          {"blk.0.ffn_gate.weight", GGML_TYPE_F16, {16, 64}},
          {"blk.1.attn_norm.weight", GGML_TYPE_F32, {16, 1}},
          {"blk.1.attn_q.weight", GGML_TYPE_F16, {16, 32}},
          {"blk.1.attn_output.weight", GGML_TYPE_F16, {16, 16}},
          {"blk.1.ffn_gate.weight", GGML_TYPE_F16, {16, 64}},
          {"blk.1.ffn_up.weight", GGML_TYPE_F16, {16, 64}},
          {"blk.1.ffn_down.weight", GGML_TYPE_F16, {64, 16}},
          {"blk.2.nextn.eh_proj.weight", GGML_TYPE_F16, {32, 16}},
          {"blk.2.ffn_down.weight", GGML_TYPE_F16, {64, 16}}};
}

const Ballast two_layers_wider{
    .trunk_layers = 2, .template_layer = 1, .extra_layers = 2, .feed_forward = 96};

const HeavyTensor& named(const std::vector<HeavyTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const HeavyTensor& one) { return one.name == name; });
  if (found == tensors.end()) throw std::runtime_error(name + " is missing");
  return *found;
}

TEST(Ballast, AddsTheAttentionLayersTensorsOncePerLayer) {
  const auto tensors = plan_heavier(small_target(), two_layers_wider);
  EXPECT_EQ(tensors.size(), 11u + 2 * 6);  // 6 tensors of layer 1, for layers 2 and 3
  for (const char* name : {"blk.2.attn_q.weight", "blk.3.attn_q.weight"}) {
    EXPECT_EQ(named(tensors, name).source, -1);
    EXPECT_EQ(named(tensors, name).fill, Fill::random);
    EXPECT_EQ(named(tensors, name).shape.rows, 32);
  }
}

TEST(Ballast, MatricesIntoTheResidualStreamAreZeroAndNormsOne) {
  const auto tensors = plan_heavier(small_target(), two_layers_wider);
  EXPECT_EQ(named(tensors, "blk.3.attn_output.weight").fill, Fill::zero);
  EXPECT_EQ(named(tensors, "blk.3.ffn_down.weight").fill, Fill::zero);
  EXPECT_EQ(named(tensors, "blk.3.ffn_down.weight").shape.columns, 96);
  EXPECT_EQ(named(tensors, "blk.3.attn_norm.weight").fill, Fill::one);
  EXPECT_EQ(named(tensors, "blk.3.attn_norm.weight").type, GGML_TYPE_F32);
}

TEST(Ballast, WidensEveryFeedForwardWithRandomRowsAndZeroColumns) {
  const auto tensors = plan_heavier(small_target(), two_layers_wider);
  for (const char* name : {"blk.0.ffn_gate.weight", "blk.1.ffn_gate.weight", "blk.1.ffn_up.weight",
                           "blk.2.ffn_up.weight"}) {
    EXPECT_EQ(named(tensors, name).shape.rows, 96) << name;
    EXPECT_EQ(named(tensors, name).shape.columns, 16) << name;
    EXPECT_EQ(named(tensors, name).fill, Fill::random) << name;
  }
  for (const char* name : {"blk.1.ffn_down.weight", "blk.4.ffn_down.weight"}) {
    EXPECT_EQ(named(tensors, name).shape.columns, 96) << name;
    EXPECT_EQ(named(tensors, name).fill, Fill::zero) << name;
    EXPECT_GE(named(tensors, name).source, 0) << name;
  }
}

TEST(Ballast, MovesThePredictionBlockBehindTheAddedLayersAndNothingElse) {
  const auto tensors = plan_heavier(small_target(), two_layers_wider);
  EXPECT_EQ(named(tensors, "blk.4.nextn.eh_proj.weight").source, 9);
  EXPECT_EQ(named(tensors, "token_embd.weight").source, 0);
  EXPECT_EQ(named(tensors, "blk.1.attn_q.weight").source, 4);
  EXPECT_EQ(named(tensors, "blk.0.ssm_out.weight").shape.columns, 8);
}

TEST(Ballast, WithoutAddedWeightItIsTheSource) {
  const auto source = small_target();
  const auto tensors = plan_heavier(
      source, {.trunk_layers = 2, .template_layer = 1, .extra_layers = 0, .feed_forward = 64});
  ASSERT_EQ(tensors.size(), source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    EXPECT_EQ(tensors[i].name, source[i].name);
    EXPECT_EQ(tensors[i].shape.rows, source[i].shape.rows);
    EXPECT_EQ(tensors[i].shape.columns, source[i].shape.columns);
  }
}

}  // namespace
}  // namespace paceline::worker
