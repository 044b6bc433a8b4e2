#include "machine/probe/kernels.hpp"

namespace paceline::machine {

namespace {

// One loop each, in vectors of 64 bytes that the compiler splits into what a target has. They are
// inlined into a function a target, so that vectors never cross a call.
using Words [[gnu::vector_size(64), gnu::may_alias]] = std::uint64_t;
using Doubles [[gnu::vector_size(64), gnu::may_alias]] = double;
constexpr std::size_t width = 8;
static_assert(width == line_words);

[[gnu::always_inline]] inline std::uint64_t total(const Words& lanes) {
  std::uint64_t sum = 0;
  for (std::size_t lane = 0; lane < width; ++lane) sum += lanes[lane];
  return sum;
}

// Four sums that do not wait for one another.
[[gnu::always_inline]] inline std::uint64_t sum_words(const std::uint64_t* words,
                                                      std::size_t count) {
  static_assert(block_words == 4 * width);
  Words a{}, b{}, c{}, d{};
  for (std::size_t i = 0; i < count; i += block_words) {
    const auto* block = reinterpret_cast<const Words*>(words + i);
    a += block[0];
    b += block[1];
    c += block[2];
    d += block[3];
  }
  a += b;
  c += d;
  a += c;
  return total(a);
}

[[gnu::always_inline]] inline void triad_words(double* a, const double* b, const double* c,
                                               double scale, std::size_t count) {
  for (std::size_t i = 0; i < count; i += width)
    *reinterpret_cast<Doubles*>(a + i) =
        *reinterpret_cast<const Doubles*>(b + i) + scale * *reinterpret_cast<const Doubles*>(c + i);
}

[[gnu::always_inline]] inline void add_row(Words& sum, const std::uint64_t* row,
                                           std::size_t row_words) {
  for (std::size_t i = 0; i < row_words; i += width)
    sum += *reinterpret_cast<const Words*>(row + i);
}

// The top bits of a batch's sum are zero, which only its reader knows: the next batch waits for it.
[[gnu::always_inline]] inline std::uint64_t gather_rows(const std::uint64_t* table,
                                                        std::size_t row_words,
                                                        const std::uint32_t* rows,
                                                        std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; i += rows_in_flight) {
    Words batch{};
    for (std::size_t k = 0; k < rows_in_flight; ++k)
      add_row(batch, table + row_words * rows[i + k], row_words);
    const std::uint64_t read = total(batch);
    sum += read;
    rows += read >> 60;
  }
  return sum;
}

[[gnu::always_inline]] inline std::uint64_t chase_rows(const std::uint64_t* table,
                                                       std::size_t row_words, std::uint64_t& row,
                                                       std::size_t steps) {
  Words sum{};
  std::uint64_t at = row;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::uint64_t* here = table + row_words * at;
    at = here[0];
    add_row(sum, here, row_words);
  }
  row = at;
  return total(sum);
}

#define PACELINE_KERNELS(name, ...)                                                          \
  __VA_ARGS__ std::uint64_t sum_##name(const std::uint64_t* words, std::size_t count) {      \
    return sum_words(words, count);                                                          \
  }                                                                                          \
  __VA_ARGS__ void triad_##name(double* a, const double* b, const double* c, double scale,   \
                                std::size_t count) {                                         \
    triad_words(a, b, c, scale, count);                                                      \
  }                                                                                          \
  __VA_ARGS__ std::uint64_t gather_##name(const std::uint64_t* table, std::size_t row_words, \
                                          const std::uint32_t* rows, std::size_t count) {    \
    return gather_rows(table, row_words, rows, count);                                       \
  }                                                                                          \
  __VA_ARGS__ std::uint64_t chase_##name(const std::uint64_t* table, std::size_t row_words,  \
                                         std::uint64_t& row, std::size_t steps) {            \
    return chase_rows(table, row_words, row, steps);                                         \
  }                                                                                          \
  constexpr Kernels name { sum_##name, triad_##name, gather_##name, chase_##name }

PACELINE_KERNELS(common, );
#if defined(__x86_64__)
PACELINE_KERNELS(avx2, [[gnu::target("avx2,fma")]]);
PACELINE_KERNELS(avx512, [[gnu::target("avx512f")]]);
#endif

}  // namespace

const Kernels& kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2;
#endif
  return common;
}

}  // namespace paceline::machine
