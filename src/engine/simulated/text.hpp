#pragma once

#include <cstdint>
#include <string_view>

namespace paceline::engine::simulated {

inline constexpr std::int32_t eos_token = 2;

/// The text that follows a prompt: its tokens depend on the prompt and their place only, so that
/// every arm writes the same one.
class Text {
 public:
  Text(std::uint64_t seed, std::string_view prompt, double eos_probability, int period);

  /// Token `index` = 0, 1, .. of the output.
  std::int32_t token(int index) const;

 private:
  std::uint64_t key_;
  double eos_probability_;
  int period_;
};

/// A well-mixed number from two.
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// The same for text, the same on every platform.
std::uint64_t hash(std::string_view text);

}  // namespace paceline::engine::simulated
