#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/known.hpp"

namespace paceline::document {

/// Memory of an arm's engine on one device, as its driver counts it.
struct DeviceMemory {
  std::string device;
  std::uint64_t bytes = 0;
};

/// What an arm's engine held at one moment, read from outside.
struct MemoryReading {
  std::string when;                ///< "before_load", "after_load", "after_fill" or "after_run"
  Known<std::uint64_t> pss_bytes;  ///< share of the main memory of all its processes
  Known<std::uint64_t> available_bytes;  ///< of the machine, for a new program
  std::vector<DeviceMemory> devices;     ///< empty: no driver told of any
  Known<std::uint64_t> peak_bytes = {};  ///< most that each had resident up to then, added up
};

/// What the engine says it allocated on one device, after loading.
struct DeviceAllocation {
  std::string device;
  std::uint64_t model_bytes = 0;
  std::uint64_t context_bytes = 0;
  std::uint64_t compute_bytes = 0;
  Known<std::uint64_t> free_before_bytes;  ///< of the device, before anything was loaded
  Known<std::uint64_t> free_after_bytes;   ///< when the allocations were read
  /// What is gone from the device and is none of these: the driver's own, other programs. Below
  /// zero the device contradicts the library.
  Known<std::int64_t> unaccounted_bytes;
};

/// Of an arm's first launch that opened.
struct ArmMemory {
  std::string arm;
  Known<std::uint64_t> model_bytes;       ///< that the engine says it allocated
  Known<std::uint64_t> context_bytes;     ///< likewise
  Known<std::uint64_t> compute_bytes;     ///< likewise
  Known<std::uint64_t> projector_bytes;   ///< likewise, of the vision projector
  Known<std::uint64_t> resident_bytes;    ///< of the engine's process after loading
  std::vector<DeviceAllocation> devices;  ///< empty: the engine does not tell them apart
  std::vector<MemoryReading> readings;    ///< in order of time
};

struct Memory {
  std::vector<ArmMemory> by_arm;
  Known<std::uint64_t> after_fill;
};

}  // namespace paceline::document
