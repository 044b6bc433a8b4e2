#include "synth/quant.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "synth/plan.hpp"

namespace paceline::synth {
namespace {

Plan quantised(const std::string& architecture, const std::string& quant,
               std::map<std::string, std::string> quant_of = {},
               std::map<std::string, std::int64_t> shape = {}) {
  protocol::Invent job;
  job.architecture = architecture;
  job.quant = quant;
  job.quant_of = std::move(quant_of);
  job.shape = std::move(shape);
  return plan(job).value();
}

std::string type_of(const Plan& plan, const std::string& name) {
  for (const TensorPlan& tensor : plan.tensors)
    if (tensor.name == name) return model::tensor_type_name(tensor.type);
  return "(no such tensor)";
}

TEST(Quant, GivesEachClassItsType) {
  const Plan plan = quantised("llama", "Q4_K", {{"output", "q6_K"}, {"attention", "iq4_xs"}});
  EXPECT_EQ(type_of(plan, "token_embd.weight"), "q4_K");
  EXPECT_EQ(type_of(plan, "output.weight"), "q6_K");
  EXPECT_EQ(type_of(plan, "blk.1.attn_k.weight"), "iq4_xs");
  EXPECT_EQ(type_of(plan, "blk.1.ffn_down.weight"), "q4_K");
  EXPECT_EQ(type_of(plan, "blk.1.attn_norm.weight"), "f32");
  EXPECT_EQ(type_of(plan, "output_norm.weight"), "f32");
}

TEST(Quant, LeavesWhatLlamaQuantizeLeaves) {
  const Plan plan = quantised("qwen4exp", "q8_0", {{"experts", "mxfp4"}});
  EXPECT_EQ(type_of(plan, "blk.0.ssm_conv1d.weight"), "f32");
  EXPECT_EQ(type_of(plan, "blk.0.ple_conv1d.weight"), "f32");
  EXPECT_EQ(type_of(plan, "blk.0.ffn_gate_inp.weight"), "f32");
  EXPECT_EQ(type_of(plan, "blk.3.indexer.q_proj.weight"), "f32");
  EXPECT_EQ(type_of(plan, "blk.0.ffn_up_exps.weight"), "mxfp4");
  EXPECT_EQ(type_of(plan, "blk.0.ffn_up_shexp.weight"), "q8_0");
}

// llama-quantize stores a matrix with rows of 576 under Q4_K as Q5_0 and under Q6_K as Q8_0.
TEST(Quant, FallsBackAsLlamaQuantizeDoesAndSaysSo) {
  const Plan plan = quantised("llama", "q4_K", {{"output", "q6_K"}}, {{"embd", 576}});
  EXPECT_EQ(type_of(plan, "blk.0.attn_q.weight"), "q5_0");
  EXPECT_EQ(type_of(plan, "output.weight"), "q8_0");
  EXPECT_EQ(type_of(plan, "blk.0.ffn_down.weight"), "q4_K") << "rows of 512";
  const bool said = std::any_of(plan.notes.begin(), plan.notes.end(), [](const auto& note) {
    return note.find("rows of 576 are no whole blocks of q4_K: stored as q5_0") == 0;
  });
  EXPECT_TRUE(said);
  const Plan odd = quantised("llama", "q4_K", {}, {{"embd", 40}});
  EXPECT_EQ(type_of(odd, "blk.0.attn_q.weight"), "f16");
}

TEST(Quant, RefusesTypesAndClassesThatThereAreNot) {
  protocol::Invent job;
  job.architecture = "llama";
  job.quant = "q4";
  EXPECT_NE(plan(job).error().message.find("q4_K"), std::string::npos);
  job.quant = "f16";
  job.quant_of = {{"heads", "f16"}};
  EXPECT_NE(plan(job).error().message.find("feed-forward"), std::string::npos);
}

// 36 bytes for 64 weights, 17 for 32, 144 for 256: by ggml's block structures.
TEST(Plan, KnowsTheBytesOfItsTensors) {
  const auto bytes = [](const char* quant) {
    const Plan plan = quantised("llama", quant);
    for (const TensorPlan& tensor : plan.tensors)
      if (tensor.name == "blk.0.ffn_up.weight") return tensor.bytes();
    return std::uint64_t{0};
  };
  EXPECT_EQ(bytes("nvfp4"), 256u * 512 / 64 * 36);
  EXPECT_EQ(bytes("mxfp4"), 256u * 512 / 32 * 17);
  EXPECT_EQ(bytes("q4_K"), 512u * 144);
  EXPECT_EQ(bytes("bf16"), 256u * 512 * 2);
}

}  // namespace
}  // namespace paceline::synth
