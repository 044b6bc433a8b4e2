#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/probe/buffer.hpp"
#include "machine/probe/topology.hpp"

namespace paceline::machine {

/// What is done to the memory: all of it read, or a = b + s * c over three arrays.
enum class Access { read, triad };

struct BandwidthSetup {
  int threads = 1;
  std::uint64_t bytes = 0;  ///< of the buffer; enough_bytes() says how many it takes
  Pages pages = Pages::huge;
  Access access = Access::read;
  std::vector<int> cpus = {};  ///< logical processors to stay on; empty: the scheduler's choice
};

/// Bandwidth of memory that no cache holds, in bytes/s. Each thread goes through a part of its own,
/// which it was the first to touch. A triad is counted as is usual, three arrays, without what a
/// processor reads of `a` before it writes.
class BandwidthProbe {
 public:
  /// Takes the memory and touches it. The error says what the system refused.
  static util::Result<BandwidthProbe> make(const BandwidthSetup& setup);

  /// Bytes/s of every turn through the buffer, for about `seconds` and at least `fewest_samples`
  /// turns: from the start of the first thread to the end of the last. The memory stays taken.
  util::Result<std::vector<double>> samples(double seconds);

  /// Bytes that a turn moves, and those of the buffer on huge pages, if the system says.
  std::uint64_t bytes() const;
  std::optional<std::uint64_t> huge_bytes() const { return buffer_.huge_bytes(); }

  /// Sum of all words that the last turn read, or of the triad's results, modulo 2^64.
  std::uint64_t checksum() const;

 private:
  BandwidthProbe(const BandwidthSetup& setup, Buffer buffer);
  void touch(int thread);
  void turn(int thread);
  double* array(std::size_t index, int thread) const;

  BandwidthSetup setup_;
  Buffer buffer_;
  std::size_t words_each_;  ///< words of an array that belong to a thread
  std::vector<std::uint64_t> sums_;
};

inline constexpr std::size_t fewest_samples = 3;

/// Bytes of a buffer that the caches which so many threads can fill hold little of: eight times
/// those caches and at least 256 MiB, but never more than a quarter of the available memory.
std::uint64_t enough_bytes(const Topology& topology, int threads, std::uint64_t available_bytes);

/// A probe of reads on huge pages by so many threads, as a run takes samples between its launches:
/// about 0.1 s to make, then as long as asked.
util::Result<BandwidthProbe> read_probe(int threads);

}  // namespace paceline::machine
