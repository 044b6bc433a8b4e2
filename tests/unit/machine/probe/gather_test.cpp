#include "machine/probe/gather.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "machine/probe/kernels.hpp"

namespace paceline::machine {
namespace {

constexpr std::uint64_t mib = 1u << 20;

TEST(RandomRows, AreAllRowsOnceWhereAsManyAreWanted) {
  auto rows = random_rows(1000, 1000, 1);
  std::vector<std::uint32_t> all(1000);
  std::iota(all.begin(), all.end(), 0u);
  EXPECT_NE(rows, all) << "in random order";
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, all);
}

TEST(RandomRows, AreDistinctAndOneOfEachStretchWhereFewerAreWanted) {
  auto rows = random_rows(1000, 10, 1);
  std::sort(rows.begin(), rows.end());
  ASSERT_EQ(rows.size(), 10u);
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(rows[i] / 100, i);
}

TEST(RandomRows, DependOnTheSeedAlone) {
  EXPECT_EQ(random_rows(500, 500, 7), random_rows(500, 500, 7));
  EXPECT_NE(random_rows(500, 500, 7), random_rows(500, 500, 8));
}

// Of all rows: their numbers, and a 1 for each other word.
std::uint64_t sum_of_table(std::uint64_t rows, std::uint64_t row_bytes) {
  return rows * (rows - 1) / 2 + rows * (row_bytes / 8 - 1);
}

TEST(GatherProbe, ReadsEveryWordOfEveryRowOnceInEachWalk) {
  auto probe = GatherProbe::make(mib, Pages::small, 0, 1);
  ASSERT_TRUE(probe);
  for (const std::uint64_t row_bytes : {64u, 256u, 4096u})
    for (const bool dependent : {false, true}) {
      const auto times = probe->ns_per_row({row_bytes, mib, 0, dependent}, 2);
      EXPECT_EQ(times.size(), 2u);
      EXPECT_EQ(probe->rows_walked(), mib / row_bytes);
      EXPECT_EQ(probe->checksum(), sum_of_table(mib / row_bytes, row_bytes));
    }
}

TEST(GatherProbe, WalksATableThatACacheHoldsAgainAndAgain) {
  auto probe = GatherProbe::make(mib, Pages::small, mib, 1);
  ASSERT_TRUE(probe);
  (void)probe->ns_per_row({1024, mib, 0, true}, 1);
  EXPECT_EQ(probe->rows_walked(), 65536u);
  EXPECT_EQ(probe->checksum(), 64 * sum_of_table(1024, 1024)) << "64 times 1024 rows";
}

TEST(GatherProbe, ShiftsEveryRowAndLeavesTheTableAsItWas) {
  auto probe = GatherProbe::make(mib, Pages::small, 0, 1);
  ASSERT_TRUE(probe);
  (void)probe->ns_per_row({4096, mib, 2048, false}, 1);
  // 255 rows fit behind the shift; 240 of them are 15 batches of 16.
  EXPECT_EQ(probe->rows_walked(), 240u);
  (void)probe->ns_per_row({64, mib, 0, false}, 1);
  EXPECT_EQ(probe->checksum(), sum_of_table(mib / 64, 64)) << "no link of other rows is left";
}

TEST(Kernels, ChaseThatFollowsLinksComesBackAfterAllRows) {
  auto buffer = Buffer::make(mib, Pages::small);
  ASSERT_TRUE(buffer);
  std::fill_n(buffer->words(), buffer->word_count(), 1u);
  const std::uint64_t order[] = {2, 0, 3, 1};  // 0 -> 2 -> 3 -> 1 -> 0
  for (std::size_t row = 0; row < 4; ++row) buffer->words()[row * line_words] = order[row];
  std::uint64_t at = 0;
  EXPECT_EQ(kernels().chase(buffer->words(), line_words, at, 3), 2u + 3u + 1u + 3 * 7u);
  EXPECT_EQ(at, 1u);
  EXPECT_EQ(kernels().chase(buffer->words(), line_words, at, 1), 0u + 7u);
  EXPECT_EQ(at, 0u);
}

}  // namespace
}  // namespace paceline::machine
