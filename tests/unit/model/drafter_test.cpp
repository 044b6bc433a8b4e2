#include "model/drafter.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/gguf_builder.hpp"

namespace paceline::model {
namespace {

using support::GgufBuilder;

Gguf head_of(const GgufBuilder& builder) {
  const std::string bytes = builder.bytes();
  return Gguf::read(MemorySource(bytes), "d.gguf").value();
}

GgufBuilder block_of_8() { return GgufBuilder("dflash").u32("dflash.block_size", 8); }

GgufBuilder dspark() { return block_of_8().tensor("markov_w1.weight", {4, 4}, 1, 32); }

TEST(Block, of_dflash_has_a_first_row_that_predicts_nothing) {
  EXPECT_EQ(block_of(head_of(block_of_8())).size, 8);
  EXPECT_EQ(block_of(head_of(block_of_8())).longest_draft, 7);
  // The key is DSpark's: llama.cpp does not look at it in a DFlash file.
  EXPECT_EQ(block_of(head_of(block_of_8().flag("dflash.sample_from_anchor", true))).longest_draft,
            7);
}

TEST(Block, that_the_file_does_not_say_is_llama_cpps_own) {
  EXPECT_EQ(block_of(head_of(GgufBuilder("dflash"))).size, 16);
}

TEST(Block, of_dspark_is_drafted_whole_unless_the_file_says_otherwise) {
  EXPECT_EQ(block_of(head_of(dspark())).longest_draft, 8);
  EXPECT_EQ(block_of(head_of(dspark().flag("dflash.sample_from_anchor", true))).longest_draft, 8);
  EXPECT_EQ(block_of(head_of(dspark().flag("dflash.sample_from_anchor", false))).longest_draft, 7);
}

}  // namespace
}  // namespace paceline::model
