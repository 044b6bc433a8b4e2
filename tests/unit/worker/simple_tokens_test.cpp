#include "worker/simple_tokens.hpp"

#include <gtest/gtest.h>

namespace paceline::worker {
namespace {

TEST(SimpleTokens, words_take_their_space_and_equal_ones_have_equal_ids) {
  struct Case {
    const char* text;
    std::vector<std::int32_t> ids;
  };
  const Case cases[] = {
      {"", {}},
      {"a b a b", {0, 1, 2, 1}},  // "a" at the start has no space before it
      {"12345", {0, 1}},          // "123", "45"
      {"x=x;", {0, 1, 0, 2}},
      {"\n\n\n    if", {0, 1, 2}},  // three line ends, three spaces, " if"
      {"  \n  \n", {0, 1, 0, 1}},
      {"gr\xC3\xBC\xC3\x9F gr\xC3\xBC\xC3\x9F", {0, 1}},
      {" 7 7", {0, 1, 0, 1}},
  };
  for (const auto& one : cases) EXPECT_EQ(SimpleTokens().of(one.text), one.ids) << one.text;
}

TEST(SimpleTokens, ids_go_on_from_text_to_text) {
  SimpleTokens tokens;
  EXPECT_EQ(tokens.of("a b"), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(tokens.of(" c b"), (std::vector<std::int32_t>{2, 1}));
}

}  // namespace
}  // namespace paceline::worker
