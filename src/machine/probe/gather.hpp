#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/probe/buffer.hpp"

namespace paceline::machine {

/// `count` distinct numbers below `rows`, evenly spread over them, in random order: all of them
/// where `count` is `rows`.
std::vector<std::uint32_t> random_rows(std::uint64_t rows, std::uint64_t count, std::uint64_t seed);

struct GatherSetup {
  std::uint64_t row_bytes = 0;    ///< whole lines of 64 bytes
  std::uint64_t table_bytes = 0;  ///< of the buffer's beginning
  std::uint64_t shift_bytes = 0;  ///< where the first row begins, in whole lines
  /// Each row says which is next; else 16 known rows are read at once, and then the next 16.
  bool dependent = false;
};

/// One thread that reads whole rows in random order from a table.
class GatherProbe {
 public:
  /// Takes memory for tables of up to `bytes` and touches it. A table of at most `cache_bytes`
  /// counts as one that a cache holds.
  static util::Result<GatherProbe> make(std::uint64_t bytes, Pages pages, std::uint64_t cache_bytes,
                                        std::uint64_t seed);

  /// Nanoseconds a row, of `samples` walks. Before each the caches hold the table if it fits, else
  /// what a stream through the table leaves in them. No row comes twice in a walk through a table
  /// that does not fit; at most 65536 rows or 128 MiB are walked.
  std::vector<double> ns_per_row(const GatherSetup& setup, int samples);

  std::optional<std::uint64_t> huge_bytes() const { return buffer_.huge_bytes(); }

  /// Of the last walk: rows read, and the sum of all their words. A row's first word is the number
  /// of the row after it in the walk, each other word is 1.
  std::uint64_t rows_walked() const { return rows_walked_; }
  std::uint64_t checksum() const { return checksum_; }

 private:
  GatherProbe(Buffer buffer, std::uint64_t cache_bytes, std::uint64_t seed);
  void settle_caches(const GatherSetup& setup);
  void walk(const GatherSetup& setup, const std::uint64_t* table,
            const std::vector<std::uint32_t>& rows, std::uint64_t rounds);

  Buffer buffer_;
  std::uint64_t cache_bytes_;
  std::uint64_t seed_;
  std::uint64_t rows_walked_ = 0;
  std::uint64_t checksum_ = 0;
};

}  // namespace paceline::machine
