#include "worker/llama/loadable.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "ggml.h"
#include "gguf.h"
#include "llama.h"
#include "model/tensor_type.hpp"
#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "util/files.hpp"

namespace paceline::worker {
namespace {

using support::GgufBuilder;
using support::little_endian;
using support::small_model;

constexpr std::uint32_t type_u16 = 2;
constexpr std::uint32_t type_array = 9;

/// Why a model with one change is refused; empty when it is not.
std::string refusal(const std::function<void(GgufBuilder&)>& change,
                    const std::string& architecture = "llama") {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() / "m.gguf";
  GgufBuilder builder = small_model(architecture);
  change(builder);
  EXPECT_TRUE(util::write_file(path, builder.bytes()));
  const auto file = model::Gguf::open(path);
  EXPECT_TRUE(file) << file.error().message;
  const auto checked = check_target(*file);
  return checked ? "" : checked.error().message;
}

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(CheckTarget, LetsAnOrdinaryModelThrough) {
  EXPECT_EQ(refusal([](GgufBuilder&) {}), "");
  EXPECT_EQ(refusal([](GgufBuilder& b) { b.u32s("llama.attention.head_count", {2}); }), "");
  EXPECT_EQ(refusal([](GgufBuilder& b) {
              b.u32("llama.expert_count", 8).u32("llama.expert_used_count", 2);
            }),
            "");
}

TEST(CheckTarget, RefusesAFileThatOnlyDrafts) {
  for (const char* architecture : {"dflash", "eagle3", "gemma4-assistant"})
    expect_says(refusal([](GgufBuilder&) {}, architecture), "is a drafter");
}

TEST(CheckTarget, RefusesLayersOnWhichTheLibraryAborts) {
  const auto layers = [](const GgufBuilder& builder) {
    const support::TemporaryFolder folder;
    const std::string path = folder.path() / "m.gguf";
    EXPECT_TRUE(util::write_file(path, builder.bytes()));
    const auto checked = check_target(model::Gguf::open(path).value());
    return checked ? std::string() : checked.error().message;
  };
  const auto with = [](std::uint32_t count) {
    return GgufBuilder().u32("llama.block_count", count).tensor("t", {4}, 0, 16);
  };
  EXPECT_EQ(layers(with(512)), "");
  expect_says(layers(with(513)), "llama.block_count 513");
  expect_says(layers(with(0)), "llama.block_count 0");
  expect_says(layers(GgufBuilder().tensor("t", {4}, 0, 16)), "llama.block_count nothing");
  expect_says(layers(GgufBuilder("").tensor("t", {4}, 0, 16)), "does not say its architecture");
}

TEST(CheckTarget, RefusesCountsThatDoNotFit) {
  expect_says(refusal([](GgufBuilder& b) { b.u32("llama.nextn_predict_layers", 2); }),
              "nextn_predict_layers 2 of 1 layers");
  expect_says(refusal([](GgufBuilder& b) {
                b.u32s("llama.attention.head_count", {2, 2});
              }),
              "2 values of llama.attention.head_count for 1 layers");
  expect_says(refusal([](GgufBuilder& b) { b.u32("llama.expert_count", 1025); }),
              "expert_count 1025");
  expect_says(refusal([](GgufBuilder& b) { b.u32("llama.expert_count", 8); }), "0 are used");
  expect_says(refusal([](GgufBuilder& b) {
                b.u32("llama.expert_count", 8)
                    .u32("llama.expert_used_count", 2)
                    .u32("llama.expert_group_count", 3);
              }),
              "in 3 groups");
  expect_says(refusal([](GgufBuilder& b) { b.u32("llama.attention.head_count", ~0U); }),
              "attention.head_count 4294967295");
  expect_says(refusal([](GgufBuilder& b) {
                b.key("tokenizer.ggml.token_type", type_array,
                      little_endian<std::uint32_t>(5) + little_endian<std::uint64_t>(0));
              }),
              "damaged tokenizer: tokenizer.ggml.token_type has 0 elements for 8 tokens");
}

TEST(CheckTarget, RefusesTypesThatThereAreNot) {
  expect_says(refusal([](GgufBuilder& b) {
                b.tensor("x", {4, 4}, 99, 64);
              }),
              "tensor 'x' of type 99 (unknown)");
}

TEST(CheckTarget, RefusesASplitModelThatIsNotWholeOrNotTheFirst) {
  const auto split = [](std::uint16_t index) {
    return [index](GgufBuilder& b) {
      b.key("split.no", type_u16, little_endian(index))
          .key("split.count", type_u16, little_endian<std::uint16_t>(3));
    };
  };
  expect_says(refusal(split(0)),
              "the first of 3 files, and not all of them can be used: not named");
  expect_says(refusal(split(1)), "is file 2 of 3 of a split model: name its first file");
}

TEST(TensorTypes, AreThoseOfGgml) {
  std::size_t known = 0;
  for (int id = 0; id < GGML_TYPE_COUNT; ++id) {
    const auto type = static_cast<ggml_type>(id);
    const auto* ours = model::find_tensor_type(static_cast<std::uint32_t>(id));
    const bool removed = ggml_type_size(type) == 0;
    ASSERT_EQ(ours == nullptr, removed) << id;
    if (removed) continue;
    ++known;
    EXPECT_STREQ(ours->name, ggml_type_name(type));
    EXPECT_EQ(ours->block, static_cast<std::uint64_t>(ggml_blck_size(type))) << ours->name;
    EXPECT_EQ(ours->bytes, ggml_type_size(type)) << ours->name;
  }
  EXPECT_EQ(known, model::tensor_types().size());
}

#define FILE_TYPE(name) \
  std::pair { LLAMA_FTYPE_MOSTLY_##name, #name }

TEST(FileTypes, AreThoseOfTheLibrary) {
  EXPECT_EQ(model::file_type_name(LLAMA_FTYPE_ALL_F32), "F32");
  EXPECT_EQ(model::file_type_name(LLAMA_FTYPE_MOSTLY_MXFP4_MOE), "MXFP4");
  EXPECT_EQ(model::file_type_name(4), "type 4 (unknown)") << "taken out of the format";
  EXPECT_EQ(model::file_type_name(-7), "type -7 (unknown)");
  for (const auto& [number, name] :
       {FILE_TYPE(F16),    FILE_TYPE(Q4_0),   FILE_TYPE(Q4_1),   FILE_TYPE(Q8_0),
        FILE_TYPE(Q5_0),   FILE_TYPE(Q5_1),   FILE_TYPE(Q2_K),   FILE_TYPE(Q3_K_S),
        FILE_TYPE(Q3_K_M), FILE_TYPE(Q3_K_L), FILE_TYPE(Q4_K_S), FILE_TYPE(Q4_K_M),
        FILE_TYPE(Q5_K_S), FILE_TYPE(Q5_K_M), FILE_TYPE(Q6_K),   FILE_TYPE(IQ2_XXS),
        FILE_TYPE(IQ2_XS), FILE_TYPE(Q2_K_S), FILE_TYPE(IQ3_XS), FILE_TYPE(IQ3_XXS),
        FILE_TYPE(IQ1_S),  FILE_TYPE(IQ4_NL), FILE_TYPE(IQ3_S),  FILE_TYPE(IQ3_M),
        FILE_TYPE(IQ2_S),  FILE_TYPE(IQ2_M),  FILE_TYPE(IQ4_XS), FILE_TYPE(IQ1_M),
        FILE_TYPE(BF16),   FILE_TYPE(TQ1_0),  FILE_TYPE(TQ2_0),  FILE_TYPE(NVFP4),
        FILE_TYPE(Q1_0),   FILE_TYPE(Q2_0)})
    EXPECT_EQ(model::file_type_name(number), name);
}

/// The two readers were written apart: they have to see the same tensors at the same places.
TEST(Reader, AgreesWithGgmlOnTheShippedModels) {
  for (const char* name : {"target-mtp-f16.gguf", "dflash-f16.gguf", "small-f16.gguf"}) {
    const std::string path = support::lab_model(name);
    const auto ours = model::Gguf::open(path);
    ASSERT_TRUE(ours) << ours.error().message;
    gguf_context* theirs = gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr});
    ASSERT_NE(theirs, nullptr);
    ASSERT_EQ(static_cast<std::int64_t>(ours->tensors().size()), gguf_get_n_tensors(theirs));
    EXPECT_EQ(static_cast<std::int64_t>(ours->values().size()), gguf_get_n_kv(theirs));
    for (std::int64_t i = 0; i < gguf_get_n_tensors(theirs); ++i) {
      const model::Tensor& tensor = ours->tensors()[static_cast<std::size_t>(i)];
      EXPECT_EQ(tensor.name, gguf_get_tensor_name(theirs, i));
      EXPECT_EQ(tensor.type, static_cast<std::uint32_t>(gguf_get_tensor_type(theirs, i)));
      EXPECT_EQ(tensor.offset, gguf_get_tensor_offset(theirs, i)) << tensor.name;
      EXPECT_EQ(tensor.bytes, gguf_get_tensor_size(theirs, i)) << tensor.name;
    }
    gguf_free(theirs);
  }
}

}  // namespace
}  // namespace paceline::worker
