#include "synth/head.hpp"

#include <gtest/gtest.h>

#include "model/bytes.hpp"
#include "model/facts.hpp"

namespace paceline::synth {
namespace {

model::FileFacts like(const char* name, const char* quant) {
  protocol::Invent job;
  job.like = name;
  job.quant = quant;
  return model::facts_of(head_of(plan(job).value()));
}

/// Bytes of weights that one token reads: all but KV and state.
double weights_of_token(const model::FileFacts& file) {
  double sum = 0;
  const auto classes = model::bytes_of_pass(*file.reads, {.width = 1, .depth = 0}).value();
  for (const auto& one : classes)
    if (one.name != "KV" && one.name != "recurrent state") sum += one.bytes;
  return sum;
}

TEST(HeadOf, SaysWhatAPlanWillRead) {
  for (const KnownModel& model : known_models()) {
    const model::FileFacts file = like(model.name, "q8_0");
    ASSERT_TRUE(file.reads) << model.name << ": " << file.reads_unknown;
    EXPECT_GT(weights_of_token(file), 0) << model.name;
    EXPECT_LT(weights_of_token(file), 1.001 * static_cast<double>(file.file_bytes)) << model.name;
  }
}

/// What the makers say in public: 27 B; 125 B and 51 B of n-gram tables, 6 B of them active. Shapes
/// that are assumed give it within 2 %. Qwen's cards count the whole embedding among the active
/// ones: without it the 3.3 B of Qwen3-30B-A3B are 3.0 and the 22 B of Qwen3-235B-A22B 21.6.
TEST(HeadOf, HasAsManyParametersAsIsPublic) {
  const model::FileFacts dense = like("qwen3.8-27b", "q4_0");
  EXPECT_NEAR(static_cast<double>(dense.parameters), 27e9, 0.02 * 27e9);
  EXPECT_NEAR(static_cast<double>(dense.parameters) / 2, 13.5e9, 0.02 * 13.5e9) << "at 4 bits";
  const model::FileFacts mixture = like("qwen3.8-flash-next", "q4_0");
  EXPECT_NEAR(static_cast<double>(mixture.parameters), 176e9, 0.02 * 176e9);
  const double embedding = 248320.0 * 2560;
  EXPECT_NEAR(model::parameters_of_token(*mixture.reads) + embedding, 6e9, 0.02 * 6e9);
  // Q4_0 is 18 bytes for 32 weights; vectors and routers stay in F32.
  const double bits = 8 * weights_of_token(dense) / model::parameters_of_token(*dense.reads);
  EXPECT_GT(bits, 4.5);
  EXPECT_LT(bits, 4.51);
}

}  // namespace
}  // namespace paceline::synth
