#pragma once

#include <chrono>
#include <cstdint>

namespace paceline::trace {

/// Times are nanoseconds of a monotonic clock, the engine's or ours; only differences mean
/// anything.
using Nanoseconds = std::int64_t;

inline Nanoseconds nanoseconds(std::chrono::steady_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

}  // namespace paceline::trace
