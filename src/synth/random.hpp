#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace paceline::synth {

/// A number that each bit of both arguments decides about; the same on every platform.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t number);

/// The seed of something with a name.
std::uint64_t seed_of(std::uint64_t seed, std::string_view name);

/// Fills `values` with uniform random numbers of mean 0 and that standard deviation. Uniform, not
/// normal: no library's logarithm or cosine may decide about a byte.
void fill_random(std::uint64_t seed, double deviation, std::span<float> values);

}  // namespace paceline::synth
