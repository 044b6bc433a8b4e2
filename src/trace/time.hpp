#pragma once

#include <cstdint>

namespace paceline::trace {

/// Times are nanoseconds of a monotonic clock, the engine's or ours; only differences mean
/// anything.
using Nanoseconds = std::int64_t;

}  // namespace paceline::trace
