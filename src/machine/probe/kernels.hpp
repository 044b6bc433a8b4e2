#pragma once

#include <cstddef>
#include <cstdint>

// The loops that probes time, in the widest vectors that this processor has. Words are 64 bits; a
// piece of memory is 64-byte aligned and a whole number of `block_words`.

namespace paceline::machine {

inline constexpr std::size_t block_words = 32;
/// Rows are whole numbers of these, and begin at one.
inline constexpr std::size_t line_words = 8;
/// Rows that are gathered at once; none of the next ones is known before all of these are read.
inline constexpr std::size_t rows_in_flight = 16;

struct Kernels {
  /// Sum of all words, modulo 2^64: each is read once.
  std::uint64_t (*sum)(const std::uint64_t* words, std::size_t count);

  /// a = b + scale * c over `count` words that hold doubles.
  void (*triad)(double* a, const double* b, const double* c, double scale, std::size_t count);

  /// Sum of the words of `count` rows, read in the order of the list, `rows_in_flight` at once;
  /// `count` is a whole number of those, and no row's sum may reach 2^55.
  std::uint64_t (*gather)(const std::uint64_t* table, std::size_t row_words,
                          const std::uint32_t* rows, std::size_t count);

  /// Sum of the words of `steps` rows, the first one `row`; each row's first word is the number of
  /// the next. Leaves the next one in `row`.
  std::uint64_t (*chase)(const std::uint64_t* table, std::size_t row_words, std::uint64_t& row,
                         std::size_t steps);
};

const Kernels& kernels();

}  // namespace paceline::machine
