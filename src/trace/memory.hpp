#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::trace {

/// At which point of a launch memory was read.
enum class MemoryMoment { before_load, after_load, after_fill, after_run };

/// Memory that the engine's processes hold on one device, as its driver counts it.
struct DeviceMemory {
  std::string device;  ///< as in "GPU-8f2a.." or "0000:03:00.0 vram0"
  std::uint64_t bytes = 0;
};

/// What the engine's processes held at one moment, read from outside.
struct MemoryReading {
  MemoryMoment when = MemoryMoment::before_load;
  /// Their share of the main memory (PSS): pages that others map, too, count in part.
  std::optional<std::uint64_t> pss_bytes;
  std::string reason;                            ///< why pss_bytes is absent; empty when it is not
  std::optional<std::uint64_t> available_bytes;  ///< of the machine, for a new program
  std::vector<DeviceMemory> devices;             ///< empty: no driver told of any
  /// The most that each of them had resident at once up to now (VmHWM), added up: pages that
  /// several map count in each, and peaks at different times are added too.
  std::optional<std::uint64_t> peak_bytes = {};
  std::string peak_reason = {};  ///< why peak_bytes is absent; empty when it is not
};

}  // namespace paceline::trace
