#include "worker/llama/pairing.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"
#include "util/files.hpp"

namespace paceline::worker {
namespace {

using support::GgufBuilder;
using Edit = std::function<void(GgufBuilder&)>;

constexpr std::uint32_t gguf_bool = 7;
constexpr std::uint32_t gguf_array = 9;

void nothing_more(GgufBuilder&) {}

class Pairing : public testing::Test {
 protected:
  /// A file with rows of 256 and 6 layers.
  model::Gguf file(const std::string& architecture, const Edit& more = nothing_more) {
    GgufBuilder builder(architecture);
    builder.u32(architecture + ".embedding_length", 256).u32(architecture + ".block_count", 6);
    more(builder);
    const std::string path = folder_.path() / (std::to_string(++files_) + ".gguf");
    EXPECT_TRUE(util::write_file(path, builder.bytes()));
    return model::Gguf::open(path).value();
  }

  struct Attention {
    std::uint32_t length = 64;
    std::uint32_t length_swa = 32;
    std::uint32_t heads_kv = 2;
    std::vector<char> windows = {1, 1, 1, 1, 1, 0};
  };

  static void add(GgufBuilder& builder, const std::string& architecture, const Attention& of) {
    const std::string own = architecture + ".attention.";
    builder.u32(own + "key_length", of.length).u32(own + "value_length", of.length);
    builder.u32(own + "key_length_swa", of.length_swa).u32(own + "value_length_swa", of.length_swa);
    builder.u32(own + "head_count_kv", of.heads_kv);
    builder.key(own + "sliding_window_pattern", gguf_array,
                support::little_endian(gguf_bool) +
                    support::little_endian<std::uint64_t>(of.windows.size()) +
                    std::string(of.windows.begin(), of.windows.end()));
  }

  model::Gguf gemma(const Attention& attention) {
    return file("gemma4", [&](GgufBuilder& builder) { add(builder, "gemma4", attention); });
  }

  /// The assistant of a target with rows as wide as `reads`.
  model::Gguf assistant(const Attention& attention, std::uint32_t reads = 256) {
    return file("gemma4-assistant", [&](GgufBuilder& builder) {
      builder.u32("gemma4-assistant.embedding_length_out", reads);
      add(builder, "gemma4-assistant", attention);
    });
  }

  static std::string refusal(const util::Result<void>& checked) {
    return checked ? std::string("was not refused") : checked.error().message;
  }

  support::TemporaryFolder folder_;
  int files_ = 0;
};

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

/// Where llama.cpp aborts: "layer input tensor not found".
TEST_F(Pairing, ATargetWhoseLayersAreNotHandedOutIsRefused) {
  const model::Gguf drafter = file("dflash");
  EXPECT_TRUE(check_hands_out_layers(file("muse-glimmer"), drafter).has_value());
  EXPECT_TRUE(check_hands_out_layers(file("qwen35"), drafter).has_value());
  expect_says(refusal(check_hands_out_layers(file("gemma3"), drafter)),
              "hands out none of architecture 'gemma3'");
}

TEST_F(Pairing, SeveralRowsATokenAreNoRowThatADrafterReads) {
  const model::Gguf wide = file(
      "qwen4exp", [](GgufBuilder& builder) { builder.u32("qwen4exp.hyper_connection.count", 4); });
  expect_says(refusal(check_hands_out_layers(wide, file("dflash"))), "4 rows a token");
}

TEST_F(Pairing, TheLastLayersRowsAreHandedOutOfSomeArchitectures) {
  EXPECT_TRUE(check_hands_out_last_rows(file("gemma4"), file("eagle3")).has_value());
  expect_says(refusal(check_hands_out_last_rows(file("muse-glimmer"), file("eagle3"))),
              "architecture 'muse-glimmer'");
}

TEST_F(Pairing, AnMtpBlockNeedsItsTensorsAndAnArchitectureThatRunsIt) {
  const auto with_block = [](GgufBuilder& builder) {
    builder.tensor("blk.5.nextn.eh_proj.weight", {4}, 0, 16);
  };
  EXPECT_TRUE(check_mtp_block(file("qwen35", with_block)).has_value());
  EXPECT_TRUE(check_mtp_block(file("gemma4-assistant")).has_value()) << "it is one throughout";
  expect_says(refusal(check_mtp_block(file("qwen35"))), "lacks its tensors");
  expect_says(refusal(check_mtp_block(file("llama", with_block))),
              "runs none of architecture 'llama'");
}

TEST_F(Pairing, AnAssistantFitsTheTargetWhoseCacheItReads) {
  EXPECT_TRUE(check_mtp_file(gemma({}), assistant({})).has_value());
  expect_says(refusal(check_mtp_file(file("muse-glimmer"), assistant({}))),
              "drafts for targets of architecture 'gemma4'");
  expect_says(refusal(check_mtp_file(gemma({}), assistant({}, 512))),
              "its gemma4-assistant.embedding_length_out is 512");
  expect_says(refusal(check_mtp_file(gemma({}), assistant({.length_swa = 64}))),
              "attention.key_length_swa is 64, the target's gemma4.attention.key_length_swa is 32");
  expect_says(refusal(check_mtp_file(gemma({}), assistant({.heads_kv = 4}))),
              "attention.head_count_kv is 4");
}

TEST_F(Pairing, AnAssistantReadsTheCachesOfALayerWithAndOneWithoutAWindow) {
  for (const std::vector<char>& windows : {std::vector<char>{1, 1}, {0, 0}, {0, 1}, {0}})
    expect_says(refusal(check_mtp_file(gemma({.windows = windows}), assistant({}))),
                "last two layers");
}

TEST_F(Pairing, AnMtpFileOfTheTargetsOwnKindHasItsWidth) {
  const model::Gguf narrow = file("qwen35", [](GgufBuilder&) {});
  EXPECT_TRUE(check_mtp_file(file("qwen35"), narrow).has_value());
  expect_says(refusal(check_mtp_file(file("qwen3"), narrow)), "architecture 'qwen35'");
}

}  // namespace
}  // namespace paceline::worker
