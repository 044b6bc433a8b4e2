#include "engine/simulated/text.hpp"

namespace paceline::engine::simulated {

namespace {
constexpr std::int32_t first_ordinary_token = 3;
constexpr std::uint64_t ordinary_tokens = 30'000;
constexpr double two_to_53 = 9007199254740992.0;
}  // namespace

// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a + 0x9e3779b97f4a7c15u * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return value;
}

Text::Text(std::uint64_t seed, std::string_view prompt, double eos_probability, int period)
    : key_(mix(seed, hash(prompt))), eos_probability_(eos_probability), period_(period) {}

std::int32_t Text::token(int index) const {
  const auto place = static_cast<std::uint64_t>(period_ > 0 ? index % period_ : index);
  const auto number = mix(key_, place);
  const double uniform = static_cast<double>(number >> 11) / two_to_53;
  if (uniform < eos_probability_) return eos_token;
  return first_ordinary_token + static_cast<std::int32_t>(mix(number, 1) % ordinary_tokens);
}

}  // namespace paceline::engine::simulated
