#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace paceline::net {

/// Durations, counted in buckets that grow by 1/16 of an octave from 1 microsecond to 68 seconds:
/// a percentile is known within 2.2 %, its memory is fixed. What is shorter counts as 1
/// microsecond; the largest is kept as it is.
class LagHistogram {
 public:
  void add(double seconds);

  /// The duration that this share (0 to 1) of all does not exceed, in seconds, by nearest rank;
  /// nothing before there is one.
  std::optional<double> percentile(double share) const;
  std::optional<double> largest() const;

 private:
  static constexpr std::size_t per_octave = 16;
  static constexpr std::size_t octaves = 26;

  std::array<std::uint64_t, per_octave * octaves + 1> counts_{};
  std::uint64_t total_ = 0;
  double largest_ = 0;
};

}  // namespace paceline::net
