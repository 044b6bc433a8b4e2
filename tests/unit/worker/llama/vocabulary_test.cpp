#include "worker/llama/vocabulary.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "gguf.h"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"

namespace paceline::worker {
namespace {

using Tokens = std::vector<std::string>;

Tokens numbered(std::size_t count) {
  Tokens tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back("t" + std::to_string(i));
  return tokens;
}

class SameTokens : public testing::Test {
 protected:
  model::Gguf file(const std::string& name, const std::string& kind, const Tokens& tokens) {
    gguf_context* gguf = gguf_init_empty();
    gguf_set_val_str(gguf, "general.architecture", "llama");
    gguf_set_val_str(gguf, "tokenizer.ggml.model", kind.c_str());
    std::vector<const char*> pointers;
    for (const auto& token : tokens) pointers.push_back(token.c_str());
    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
    const std::string path = folder_.path() / name;
    gguf_write_to_file(gguf, path.c_str(), false);
    gguf_free(gguf);
    return model::Gguf::open(path).value();
  }

  /// What is said of a drafter beside a target of 200 tokens.
  std::string message(const std::string& kind, const Tokens& tokens) {
    const auto checked =
        check_same_tokens(file("target.gguf", "gpt2", numbered(200)), file("d.gguf", kind, tokens));
    return checked ? "" : checked.error().message;
  }

  support::TemporaryFolder folder_;
};

// The tolerances are those of common_speculative_are_compatible in llama.cpp v0.5.0.
TEST_F(SameTokens, may_differ_in_the_first_five_and_in_128_more_at_the_end) {
  Tokens tokens = numbered(328);
  tokens[4] = "<bos>";
  EXPECT_EQ(message("gpt2", tokens), "");
  EXPECT_EQ(message("gpt2", numbered(72)), "");
}

TEST_F(SameTokens, are_missed_with_the_first_difference_named) {
  EXPECT_NE(message("llama", numbered(200)).find("has the tokenizer 'llama'"), std::string::npos);
  EXPECT_NE(message("gpt2", numbered(329)).find("has 329 tokens and the target"),
            std::string::npos);
  EXPECT_NE(message("gpt2", numbered(71)).find("has 71 tokens"), std::string::npos);
  Tokens tokens = numbered(200);
  tokens[5] = "other";
  tokens[6] = "later";
  EXPECT_NE(message("gpt2", tokens).find("Token 5 of the drafter"), std::string::npos);
  tokens[5] = "t5";
  tokens[6] = "t6";
  tokens[199] = "last";
  EXPECT_NE(message("gpt2", tokens).find("is 'last', of the target"), std::string::npos);
}

TEST_F(SameTokens, are_those_of_the_laboratory_models) {
  const auto target = model::Gguf::open(support::lab_model("target-mtp-f16.gguf"));
  const auto small = model::Gguf::open(support::lab_model("small-f16.gguf"));
  EXPECT_TRUE(check_same_tokens(*target, *small).has_value());
}

}  // namespace
}  // namespace paceline::worker
