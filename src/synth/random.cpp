#include "synth/random.hpp"

#include <cstddef>

namespace paceline::synth {

namespace {

constexpr double square_root_of_3 = 1.7320508075688772;
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

/// The last step of Vigna's SplitMix64.
std::uint64_t stirred(std::uint64_t state) {
  state = (state ^ (state >> 30u)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27u)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31u);
}

}  // namespace

std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) {
  return stirred(stirred(seed + golden) ^ (number * golden));
}

std::uint64_t seed_of(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return mixed(seed, hash);
}

void fill_random(std::uint64_t seed, double deviation, std::span<float> values) {
  // 16 bits are more than any type of weight keeps of a number that small.
  const auto unit = static_cast<float>(deviation * square_root_of_3 / 32768.0);
  std::uint64_t state = stirred(seed + golden);
  for (std::size_t i = 0; i < values.size(); i += 4) {
    state += golden;
    std::uint64_t bits = stirred(state);
    for (std::size_t j = i; j < values.size() && j < i + 4; ++j) {
      values[j] = (static_cast<float>(bits & 0xffffu) - 32767.5f) * unit;
      bits >>= 16u;
    }
  }
}

}  // namespace paceline::synth
