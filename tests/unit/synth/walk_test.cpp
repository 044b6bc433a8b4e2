#include "synth/walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace paceline::synth {
namespace {

constexpr std::int64_t vocabulary = 1260;  // 1000 words

/// The token after each word.
std::vector<int> after(const Walk& walk) {
  std::vector<int> next(vocabulary, -1);
  for (int token = 0; token < vocabulary; ++token)
    if (const int before = walk.before()[static_cast<std::size_t>(token)]; before >= 0)
      next[static_cast<std::size_t>(before)] = token;
  return next;
}

TEST(Walk, GoesThroughAllWordsBeforeItComesBack) {
  const std::vector<int> next = after(Walk(7, vocabulary, 1));
  std::vector<bool> seen(vocabulary, false);
  int word = first_word;
  int steps = 0;
  for (; !seen[static_cast<std::size_t>(word)]; ++steps) {
    seen[static_cast<std::size_t>(word)] = true;
    word = next[static_cast<std::size_t>(word)];
    ASSERT_GE(word, first_word);
  }
  EXPECT_EQ(steps, 1000);
  EXPECT_EQ(word, first_word);
}

TEST(Walk, AgreesForJustTheShareOfWordsThatWasAskedFor) {
  const std::vector<int> target = after(Walk(7, vocabulary, 1));
  for (const double agreement : {0.0, 0.25, 0.8, 1.0}) {
    const Walk walk(7, vocabulary, agreement);
    const std::vector<int> draft = after(walk);
    int agreeing = 0;
    for (std::size_t word = first_word; word < vocabulary; ++word)
      agreeing += draft[word] == target[word] ? 1 : 0;
    EXPECT_EQ(agreeing, static_cast<int>(1000 * agreement + 0.5)) << agreement;
    EXPECT_NEAR(walk.share_agreeing(), agreement, 1e-9);
  }
}

TEST(Walk, MakesEachWordTheSuccessorOfJustOneHoweverOftenItGoesWrong) {
  std::vector<int> next = after(Walk(3, vocabulary, 0.4));
  next.erase(next.begin(), next.begin() + first_word);
  std::sort(next.begin(), next.end());
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(next[static_cast<std::size_t>(i)], static_cast<int>(first_word) + i);
}

TEST(Walk, IsAnotherOneWithAnotherSeed) {
  EXPECT_EQ(Walk(1, vocabulary, 1).before(), Walk(1, vocabulary, 1).before());
  EXPECT_NE(Walk(1, vocabulary, 1).before(), Walk(2, vocabulary, 1).before());
}

}  // namespace
}  // namespace paceline::synth
