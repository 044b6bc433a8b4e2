#include "cli/words.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace {

using paceline::cli::read_duration;
using paceline::cli::read_share;
using paceline::cli::split_words;
using Words = std::vector<std::string>;

// Expected values are those of `sh -c 'printf "%s\n" ..'`.
TEST(words, are_parted_as_a_shell_parts_them) {
  const std::vector<std::pair<const char*, Words>> cases{
      {"", {}},
      {"  -ctk  q8_0\t-n\n", {"-ctk", "q8_0", "-n"}},
      {R"(-m "a file.gguf")", {"-m", "a file.gguf"}},
      {R"(--samplers='top_k;min_p')", {"--samplers=top_k;min_p"}},
      {R"(a\ b '' "" 'c\d' "e'f")", {"a b", "", "", R"(c\d)", "e'f"}},
      {R"(x"y"'z')", {"xyz"}}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(split_words(text).value(), expected) << text;
}

TEST(words, refuse_a_quote_that_does_not_end) {
  EXPECT_FALSE(split_words("-m 'a file"));
  EXPECT_FALSE(split_words("-m \"a file"));
}

TEST(words, of_a_share_are_percent_or_a_fraction) {
  EXPECT_NEAR(*read_share("--margin", "3%"), 0.03, 1e-15);
  EXPECT_EQ(*read_share("--margin", "0.05"), 0.05);
  for (const char* wrong : {"", "%", "3", "0", "0%", "-1%", "nan", "100%", "2 %", "x"})
    EXPECT_FALSE(read_share("--margin", wrong)) << wrong;
}

TEST(words, of_a_time_have_a_unit) {
  EXPECT_EQ(*read_duration("--budget", "90s"), 90);
  EXPECT_EQ(*read_duration("--budget", "10m"), 600);
  EXPECT_EQ(*read_duration("--budget", "1.5h"), 5400);
  for (const char* wrong : {"", "m", "10", "-1m", "0s", "infs", "10d"})
    EXPECT_FALSE(read_duration("--budget", wrong)) << wrong;
}

}  // namespace
