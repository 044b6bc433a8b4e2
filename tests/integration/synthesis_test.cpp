#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "ggml.h"
#include "gguf.h"
#include "support/lab_copy.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "trace/names.hpp"
#include "util/files.hpp"

namespace paceline {
namespace {

using protocol::Quant;
using support::greedy;
using support::JobReport;
using support::lab_model;
using support::lab_setup;
using support::WorkerProcess;
using trace::OutcomeKind;
using trace::SpecType;

constexpr const char* prompt = "int sqlite3_open(\n  const char *zFilename,\n";

/// The bytes of one tensor of a file.
std::string tensor_bytes(const std::string& path, const char* name) {
  gguf_context* gguf = gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr});
  const auto index = gguf_find_tensor(gguf, name);
  const auto begin = gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, index);
  const auto size = gguf_get_tensor_size(gguf, index);
  gguf_free(gguf);
  return util::read_file(path).value().substr(begin, size);
}

std::vector<float> widened(const std::string& halves) {
  std::vector<float> values(halves.size() / sizeof(ggml_fp16_t));
  ggml_fp16_to_fp32_row(reinterpret_cast<const ggml_fp16_t*>(halves.data()), values.data(),
                        static_cast<std::int64_t>(values.size()));
  return values;
}

void put_scale(float scale, std::string& bytes) {
  const ggml_fp16_t half = ggml_fp32_to_fp16(scale);
  bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
}

/// Q8_0 as ggml-common.h lays it out: of 32 values the largest magnitude / 127, then each over it.
std::string in_q8_0(const std::vector<float>& values) {
  std::string bytes;
  for (std::size_t block = 0; block < values.size(); block += 32) {
    float largest = 0;
    for (std::size_t i = 0; i < 32; ++i) largest = std::max(largest, std::abs(values[block + i]));
    const float scale = largest / 127;
    put_scale(scale, bytes);
    const float inverse = scale > 0 ? 1 / scale : 0;
    for (std::size_t i = 0; i < 32; ++i)
      bytes.push_back(static_cast<char>(std::round(values[block + i] * inverse)));
  }
  return bytes;
}

/// Q4_0: the value of largest magnitude becomes -8; two values to a byte, 16 apart.
std::string in_q4_0(const std::vector<float>& values) {
  std::string bytes;
  for (std::size_t block = 0; block < values.size(); block += 32) {
    float extreme = 0;
    for (std::size_t i = 0; i < 32; ++i)
      if (std::abs(values[block + i]) > std::abs(extreme)) extreme = values[block + i];
    const float scale = extreme / -8;
    put_scale(scale, bytes);
    const float inverse = scale != 0 ? 1 / scale : 0;
    const auto level = [&](std::size_t i) {
      return std::min(15, static_cast<int>(values[block + i] * inverse + 8.5f));
    };
    for (std::size_t i = 0; i < 16; ++i)
      bytes.push_back(static_cast<char>(level(i) | (level(i + 16) << 4)));
  }
  return bytes;
}

/// The ways to draft that laboratory models are there for.
std::vector<SpecType> drafters() {
  std::vector<SpecType> types;
  for (const SpecType type : {SpecType::draft_dflash, SpecType::draft_mtp, SpecType::draft_simple,
                              SpecType::draft_eagle3, SpecType::draft_dspark}) {
    const auto path = lab_setup(type).draft_path;
    if (!path || std::filesystem::exists(*path)) types.push_back(type);
  }
  return types;
}

class Synthesis : public testing::Test {
 protected:
  std::string made(const std::string& source, int extra_layers, int feed_forward, Quant quant) {
    const std::string path = folder.path() / ("made-" + std::to_string(++files) + ".gguf");
    const auto outcome =
        worker.run(protocol::Synth{source, path, extra_layers, feed_forward, quant})
            .finished.outcome;
    EXPECT_EQ(outcome.kind, OutcomeKind::done) << outcome.reason;
    return path;
  }

  std::string refusal(const protocol::Synth& job) {
    const auto outcome = worker.run(job).finished.outcome;
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    return outcome.reason;
  }

  JobReport said_with(const std::string& target, SpecType type) {
    trace::Setup setup = lab_setup(type);
    setup.model_path = target;
    const auto opened = worker.open(setup);
    EXPECT_TRUE(opened.facts.has_value()) << opened.outcome.reason;
    layers = opened.facts ? opened.facts->target.layers.value_or(0) : 0;
    return worker.run(greedy(prompt, 64));
  }

  support::TemporaryFolder folder;
  WorkerProcess worker;
  int files = 0;
  std::int64_t layers = 0;
};

TEST_F(Synthesis, GivesTheSameFileTwiceAndLeavesNothingHalfWritten) {
  for (const Quant quant : {Quant::as_is, Quant::q8_0}) {
    const auto first = made(lab_model("target-mtp-f16.gguf"), 2, 1024, quant);
    const auto second = made(lab_model("target-mtp-f16.gguf"), 2, 1024, quant);
    EXPECT_TRUE(util::read_file(first).value() == util::read_file(second).value());
  }
  const std::filesystem::directory_iterator left(folder.path());
  EXPECT_EQ(std::distance(begin(left), end(left)), files);
}

/// Ballast may change no logit with any drafter: it moves the MTP block and must leave the layers
/// where drafters read them. 64 tokens in the same number of passes means the same drafts.
class HeavierCopy : public Synthesis, public testing::WithParamInterface<Quant> {
 protected:
  std::string light() {
    const std::string target = lab_model("target-mtp-f16.gguf");
    return GetParam() == Quant::as_is ? target : made(target, 0, 0, GetParam());
  }
};

TEST_P(HeavierCopy, SaysTheSameWithEveryDrafter) {
  const std::string source = light();
  const std::string heavy = made(lab_model("target-mtp-f16.gguf"), 2, 1024, GetParam());
  auto types = drafters();
  types.push_back(SpecType::none);
  for (const SpecType type : types) {
    const char* what = util::enum_name(type);
    const JobReport expected = said_with(source, type);
    EXPECT_EQ(layers, 7) << what;
    const JobReport report = said_with(heavy, type);
    EXPECT_EQ(layers, 9) << what;
    EXPECT_EQ(report.tokens(), expected.tokens()) << what;
    EXPECT_EQ(report.gaps(), expected.gaps()) << what << ": the logits differ";
    EXPECT_EQ(report.passes.size(), expected.passes.size()) << what;
    EXPECT_EQ(report.passes.size() < 60, type != SpecType::none) << what << " drafts nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Synthesis, HeavierCopy,
                         testing::Values(Quant::as_is, Quant::f32, Quant::q8_0, Quant::q4_0),
                         [](const auto& instance) {
                           const std::string name = util::enum_name(instance.param);
                           return name == "as-is" ? std::string("f16") : name;
                         });

/// The head among them: llama-quantize without --pure would give it another type.
TEST_F(Synthesis, StoresMatricesAsTheTypesAreDefined) {
  const std::string source = lab_model("target-mtp-f16.gguf");
  const auto q8_0 = made(source, 0, 0, Quant::q8_0);
  const auto q4_0 = made(source, 0, 0, Quant::q4_0);
  const auto f32 = made(source, 0, 0, Quant::f32);
  for (const char* name : {"blk.1.ffn_down.weight", "token_embd.weight", "output.weight",
                           "blk.6.nextn.eh_proj.weight"}) {
    const auto values = widened(tensor_bytes(source, name));
    EXPECT_TRUE(tensor_bytes(q8_0, name) == in_q8_0(values)) << name;
    EXPECT_TRUE(tensor_bytes(q4_0, name) == in_q4_0(values)) << name;
    const std::string exact(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(float));
    EXPECT_TRUE(tensor_bytes(f32, name) == exact) << name;
  }
}

TEST_F(Synthesis, LeavesVectorsAsTheyAre) {
  const std::string source = lab_model("target-mtp-f16.gguf");
  const auto copy = made(source, 0, 0, Quant::q4_0);
  for (const char* name :
       {"output_norm.weight", "blk.0.ssm_conv1d.weight", "blk.6.nextn.enorm.weight"})
    EXPECT_EQ(tensor_bytes(copy, name), tensor_bytes(source, name)) << name;
}

TEST_F(Synthesis, RefusesWhatItCannotMake) {
  const std::string target = lab_model("target-mtp-f16.gguf");
  const std::string place = folder.path() / "never.gguf";
  EXPECT_NE(refusal({target, place, 0, 0, Quant::as_is}).find("would be the same file"),
            std::string::npos);
  EXPECT_NE(refusal({target, target, 0, 0, Quant::q8_0}).find("overwritten by its own copy"),
            std::string::npos);
  EXPECT_NE(refusal({target, place, 2, 1000, Quant::q8_0}).find("multiple of 32"),
            std::string::npos);
  EXPECT_NE(refusal({lab_model("dflash-f16.gguf"), place, 2, 1024, Quant::q8_0})
                .find("is not a laboratory target"),
            std::string::npos);
  const auto quantised = made(target, 0, 0, Quant::q8_0);
  EXPECT_NE(refusal({quantised, place, 0, 0, Quant::q4_0}).find("requantizing from type q8_0"),
            std::string::npos);
  EXPECT_NE(refusal({target, "/nowhere/copy.gguf", 0, 0, Quant::q8_0}).find("/nowhere/copy.gguf"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(place));
}

/// Its name in the cache is made of the first file alone, and would outlive the others.
TEST_F(Synthesis, RefusesToStoreASplitModelAnew) {
  const std::string first = folder.path() / "m-00001-of-00002.gguf";
  for (const auto number : {std::uint16_t{0}, std::uint16_t{1}}) {
    const auto copy = support::lab_copy("small-f16.gguf", folder, [number](gguf_context* gguf) {
      gguf_set_val_u16(gguf, "split.no", number);
      gguf_set_val_u16(gguf, "split.count", 2);
    });
    std::filesystem::rename(
        copy, number == 0 ? first : (folder.path() / "m-00002-of-00002.gguf").string());
  }
  const std::string reason = refusal({first, folder.path() / "never.gguf", 0, 0, Quant::q8_0});
  EXPECT_NE(reason.find("the first of 2 files: merge them"), std::string::npos) << reason;
}

}  // namespace
}  // namespace paceline
