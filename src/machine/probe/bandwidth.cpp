#include "machine/probe/bandwidth.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "machine/machine.hpp"
#include "machine/probe/kernels.hpp"
#include "machine/probe/threads.hpp"
#include "machine/proc_text.hpp"
#include "util/assert.hpp"

namespace paceline::machine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t fewest_bytes = 256u << 20;
constexpr double scale = 3;
constexpr std::size_t most_samples = 10'000;

std::size_t arrays_of(Access access) { return access == Access::read ? 1 : 3; }

}  // namespace

util::Result<BandwidthProbe> BandwidthProbe::make(const BandwidthSetup& setup) {
  PACELINE_ASSERT(setup.threads >= 1);
  PACELINE_TRY_ASSIGN(Buffer buffer, Buffer::make(setup.bytes, setup.pages));
  BandwidthProbe probe(setup, std::move(buffer));
  PACELINE_ASSERT(probe.words_each_ > 0);
  bool touched = false;
  PACELINE_TRY(in_turns(
      setup.threads, setup.cpus, [&] { return !std::exchange(touched, true); },
      [&](int thread) { probe.touch(thread); }));
  return probe;
}

BandwidthProbe::BandwidthProbe(const BandwidthSetup& setup, Buffer buffer)
    : setup_(setup),
      buffer_(std::move(buffer)),
      words_each_(buffer_.word_count() / arrays_of(setup.access) /
                  static_cast<std::size_t>(setup.threads) / block_words * block_words),
      sums_(static_cast<std::size_t>(setup.threads)) {}

std::uint64_t BandwidthProbe::bytes() const {
  return words_each_ * sizeof(std::uint64_t) * arrays_of(setup_.access) *
         static_cast<std::size_t>(setup_.threads);
}

/// A thread's part of an array: those of one thread lie side by side.
double* BandwidthProbe::array(std::size_t index, int thread) const {
  const auto part = static_cast<std::size_t>(thread) * arrays_of(setup_.access) + index;
  return reinterpret_cast<double*>(buffer_.words()) + part * words_each_;
}

// Words are 0, 1, 2 and on through the whole array, so that its sum is known; as doubles they are
// the same in b and c.
void BandwidthProbe::touch(int thread) {
  const std::size_t first = static_cast<std::size_t>(thread) * words_each_;
  if (setup_.access == Access::read) {
    std::uint64_t* words = buffer_.words() + first;
    for (std::size_t i = 0; i < words_each_; ++i) words[i] = first + i;
    return;
  }
  std::fill_n(array(0, thread), words_each_, 0.0);
  for (const std::size_t index : {1u, 2u})
    for (std::size_t i = 0; i < words_each_; ++i)
      array(index, thread)[i] = static_cast<double>(first + i);
}

void BandwidthProbe::turn(int thread) {
  if (setup_.access == Access::read)
    sums_[static_cast<std::size_t>(thread)] = kernels().sum(
        buffer_.words() + static_cast<std::size_t>(thread) * words_each_, words_each_);
  else
    kernels().triad(array(0, thread), array(1, thread), array(2, thread), scale, words_each_);
}

std::uint64_t BandwidthProbe::checksum() const {
  std::uint64_t sum = 0;
  for (int thread = 0; thread < setup_.threads; ++thread) {
    if (setup_.access == Access::read) sum += sums_[static_cast<std::size_t>(thread)];
    if (setup_.access == Access::triad)
      for (std::size_t i = 0; i < words_each_; ++i)
        sum += static_cast<std::uint64_t>(array(0, thread)[i]);
  }
  return sum;
}

util::Result<std::vector<double>> BandwidthProbe::samples(double seconds) {
  struct Span {
    Clock::time_point begin;
    Clock::time_point end;
  };
  std::vector<Span> spans(static_cast<std::size_t>(setup_.threads));
  std::vector<double> rates;
  rates.reserve(most_samples);
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  bool ran = false;
  const auto again = [&] {
    if (std::exchange(ran, true)) {
      auto [begin, end] = spans.front();
      for (const Span& span : spans) {
        begin = std::min(begin, span.begin);
        end = std::max(end, span.end);
      }
      rates.push_back(static_cast<double>(bytes()) /
                      std::chrono::duration<double>(end - begin).count());
    }
    return rates.size() < fewest_samples || (Clock::now() < until && rates.size() < most_samples);
  };
  PACELINE_TRY(in_turns(setup_.threads, setup_.cpus, again, [&](int thread) {
    Span& span = spans[static_cast<std::size_t>(thread)];
    span.begin = Clock::now();
    turn(thread);
    span.end = Clock::now();
  }));
  return rates;
}

std::uint64_t enough_bytes(const Topology& topology, int threads, std::uint64_t available_bytes) {
  const std::uint64_t each = topology.llc_each_bytes.value_or(0);
  const std::uint64_t reached =
      std::min(topology.llc_bytes.value_or(0), each * static_cast<std::uint64_t>(threads));
  return std::min(std::max(8 * reached, fewest_bytes), available_bytes / 4);
}

util::Result<BandwidthProbe> read_probe(int threads) {
  const auto available = parse_memory(read_text("/proc/meminfo").value_or(""), "MemAvailable");
  if (!available)
    return util::fail(util::ErrorKind::internal, "/proc/meminfo does not say what memory is left");
  return BandwidthProbe::make(
      {.threads = threads, .bytes = enough_bytes(read_topology(), threads, *available)});
}

}  // namespace paceline::machine
