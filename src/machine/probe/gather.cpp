#include "machine/probe/gather.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "machine/probe/kernels.hpp"
#include "util/assert.hpp"

namespace paceline::machine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t line_bytes = line_words * word_bytes;
constexpr std::uint64_t most_rows = 65536;
constexpr std::uint64_t most_bytes = 128u << 20;

/// A number below `end` that is the same on every platform.
std::uint64_t below(std::uint64_t end, std::mt19937_64& random) { return random() % end; }

}  // namespace

// One number of each of `count` stretches as even as they can be, then shuffled by Fisher and
// Yates.
std::vector<std::uint32_t> random_rows(std::uint64_t rows, std::uint64_t count,
                                       std::uint64_t seed) {
  PACELINE_ASSERT(count <= rows && rows <= UINT32_MAX);
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> chosen;
  chosen.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = rows * i / count;
    const std::uint64_t end = rows * (i + 1) / count;
    chosen.push_back(static_cast<std::uint32_t>(first + below(end - first, random)));
  }
  for (std::uint64_t i = count; i > 1; --i) std::swap(chosen[i - 1], chosen[below(i, random)]);
  return chosen;
}

util::Result<GatherProbe> GatherProbe::make(std::uint64_t bytes, Pages pages,
                                            std::uint64_t cache_bytes, std::uint64_t seed) {
  PACELINE_TRY_ASSIGN(Buffer buffer, Buffer::make(bytes, pages));
  std::fill_n(buffer.words(), buffer.word_count(), std::uint64_t{1});
  return GatherProbe(std::move(buffer), cache_bytes, seed);
}

GatherProbe::GatherProbe(Buffer buffer, std::uint64_t cache_bytes, std::uint64_t seed)
    : buffer_(std::move(buffer)), cache_bytes_(cache_bytes), seed_(seed) {}

std::vector<double> GatherProbe::ns_per_row(const GatherSetup& setup, int samples) {
  PACELINE_ASSERT(setup.table_bytes <= buffer_.bytes() && setup.row_bytes > 0 &&
                  setup.row_bytes % line_bytes == 0 && setup.shift_bytes % line_bytes == 0 &&
                  setup.table_bytes > setup.shift_bytes);
  const std::uint64_t rows = (setup.table_bytes - setup.shift_bytes) / setup.row_bytes;
  const std::uint64_t walked =
      std::min({rows, most_rows, most_bytes / setup.row_bytes}) / rows_in_flight * rows_in_flight;
  PACELINE_ASSERT(walked > 0);
  std::uint64_t* table = buffer_.words() + setup.shift_bytes / word_bytes;
  const auto first_word = [&](std::uint32_t row) -> std::uint64_t& {
    return table[row * (setup.row_bytes / word_bytes)];
  };
  const auto list = random_rows(rows, walked, seed_);
  for (std::size_t i = 0; i < list.size(); ++i) first_word(list[i]) = list[(i + 1) % list.size()];
  const bool fits = setup.table_bytes <= cache_bytes_;
  const std::uint64_t rounds = fits ? std::max<std::uint64_t>(1, most_rows / walked) : 1;
  rows_walked_ = walked * rounds;
  std::vector<double> times;
  for (int sample = 0; sample < samples; ++sample) {
    if (fits)
      walk(setup, table, list, 1);
    else
      settle_caches(setup);
    const auto began = Clock::now();
    walk(setup, table, list, rounds);
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - began).count() /
                    static_cast<double>(rows_walked_));
  }
  for (const std::uint32_t row : list) first_word(row) = 1;
  return times;
}

/// Drives out the rows that were just linked.
void GatherProbe::settle_caches(const GatherSetup& setup) {
  const std::uint64_t words = std::min(setup.table_bytes, 2 * cache_bytes_) / word_bytes;
  checksum_ = kernels().sum(buffer_.words(), words / block_words * block_words);
}

void GatherProbe::walk(const GatherSetup& setup, const std::uint64_t* table,
                       const std::vector<std::uint32_t>& rows, std::uint64_t rounds) {
  const std::uint64_t row_words = setup.row_bytes / word_bytes;
  checksum_ = 0;
  std::uint64_t row = rows.front();
  for (std::uint64_t round = 0; round < rounds; ++round)
    checksum_ += setup.dependent ? kernels().chase(table, row_words, row, rows.size())
                                 : kernels().gather(table, row_words, rows.data(), rows.size());
  PACELINE_ASSERT(!setup.dependent || row == rows.front());
}

}  // namespace paceline::machine
