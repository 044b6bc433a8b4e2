#include "synth/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace paceline::synth {
namespace {

TEST(Random, HasTheDeviationThatWasAskedForAndMeanZero) {
  std::vector<float> values(100000);
  fill_random(5, 0.02, values);
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double count = static_cast<double>(values.size());
  // Five standard errors: 0.02 / sqrt(n), and of the deviation 0.45 times that.
  EXPECT_NEAR(sum / count, 0, 5 * 0.02 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 5 * 0.45 * 0.02 / std::sqrt(count));
}

TEST(Random, IsTheSameForTheSameSeedWhateverTheLength) {
  std::vector<float> few(7);
  std::vector<float> many(100);
  fill_random(9, 1, few);
  fill_random(9, 1, many);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i], many[i]);
  std::vector<float> other(7);
  fill_random(10, 1, other);
  EXPECT_NE(few, other);
}

TEST(Random, GivesNoTwoOfTenThousandNamesOneSeed) {
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 10000; ++i) seeds.insert(seed_of(1, "blk." + std::to_string(i) + ".attn_q"));
  EXPECT_EQ(seeds.size(), 10000u);
}

TEST(Random, GivesANameAnotherSeedForEachSeed) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) seeds.insert(seed_of(seed, "token_embd"));
  EXPECT_EQ(seeds.size(), 1000u);
}

}  // namespace
}  // namespace paceline::synth
