#pragma once

#include <cstdint>
#include <string_view>

namespace paceline::util {

inline constexpr std::uint64_t fnv1a_start = 14695981039346656037u;

/// FNV-1a of the bytes, going on from `start`: the same on every platform, and no secret.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t start = fnv1a_start) {
  std::uint64_t hash = start;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return hash;
}

}  // namespace paceline::util
