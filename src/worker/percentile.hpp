#pragma once

#include <cstdint>
#include <vector>

namespace paceline::worker {

/// Percentiles of any number of values in bounded memory: values are counted by their first eight
/// significant bits, so that a percentile comes out at most 1/128 too high.
class Percentile {
 public:
  Percentile();

  /// Takes a value that is not below zero.
  void add(float value);

  std::int64_t count() const { return count_; }
  double largest() const { return static_cast<double>(largest_); }

  /// The least value that `share` of all values do not exceed; 0 without values.
  double at(double share) const;

 private:
  std::vector<std::int64_t> counts_;
  std::int64_t count_ = 0;
  float largest_ = 0;
};

}  // namespace paceline::worker
