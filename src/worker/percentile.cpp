#include "worker/percentile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "util/assert.hpp"

namespace paceline::worker {

namespace {

// The bits of a float that is not negative, read as a number, rise with it: without the lower 16
// they are its exponent and the 7 bits behind the first one.
constexpr int dropped_bits = 16;
constexpr std::size_t bins = std::size_t{1} << 15;

std::size_t bin_of(float value) { return std::bit_cast<std::uint32_t>(value) >> dropped_bits; }

float upper_edge(std::size_t bin) {
  constexpr std::uint32_t lower_bits = (std::uint32_t{1} << dropped_bits) - 1;
  return std::bit_cast<float>(static_cast<std::uint32_t>(bin) << dropped_bits | lower_bits);
}

}  // namespace

Percentile::Percentile() : counts_(bins) {}

void Percentile::add(float value) {
  PACELINE_ASSERT(value >= 0 && std::isfinite(value));
  value = std::abs(value);  // the bits of -0 are those of no small number
  ++counts_[bin_of(value)];
  ++count_;
  largest_ = std::max(largest_, value);
}

double Percentile::at(double share) const {
  const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    seen += counts_[bin];
    if (seen < wanted || seen == 0) continue;
    return bin == 0 ? 0 : static_cast<double>(std::min(upper_edge(bin), largest_));
  }
  return 0;
}

}  // namespace paceline::worker
