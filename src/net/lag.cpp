#include "net/lag.hpp"

#include <algorithm>
#include <cmath>

namespace paceline::net {

namespace {

constexpr double shortest = 1e-6;

}  // namespace

// Bucket i holds what rounds to shortest * 2^(i / per_octave) on the log scale.
void LagHistogram::add(double seconds) {
  const double octave = std::log2(std::max(seconds, shortest) / shortest);
  const double bucket = std::round(octave * per_octave);
  const auto last = static_cast<double>(counts_.size() - 1);
  ++counts_[static_cast<std::size_t>(std::min(bucket, last))];
  ++total_;
  largest_ = std::max(largest_, seconds);
}

std::optional<double> LagHistogram::percentile(double share) const {
  if (total_ == 0) return std::nullopt;
  const auto rank =
      static_cast<std::uint64_t>(std::max(1.0, std::ceil(share * static_cast<double>(total_))));
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while (bucket + 1 < counts_.size() && (seen += counts_[bucket]) < rank) ++bucket;
  // No percentile is above the largest, however its bucket rounds.
  return std::min(shortest * std::exp2(static_cast<double>(bucket) / per_octave),
                  std::max(largest_, shortest));
}

std::optional<double> LagHistogram::largest() const {
  if (total_ == 0) return std::nullopt;
  return largest_;
}

}  // namespace paceline::net
