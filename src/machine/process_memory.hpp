#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/memory.hpp"

namespace paceline::machine {

/// Memory of the processes of a group now; of none when it is absent: then only what the machine
/// has left is known. `proc` is the folder where the system's files are: /proc but for tests.
/// Takes at most about 3 s, the time that a driver's own program is given.
trace::MemoryReading read_memory(std::optional<pid_t> group, trace::MemoryMoment when,
                                 const std::filesystem::path& proc = "/proc");

/// The living processes of a group, those that ended and were not waited for left out.
std::vector<pid_t> group_members(pid_t group, const std::filesystem::path& proc = "/proc");

/// Process group from the text of /proc/PID/stat; absent for one that has ended, and when the text
/// makes no sense.
std::optional<pid_t> parse_group(std::string_view stat);

/// Bytes of the Pss line of /proc/PID/smaps_rollup; absent without one.
std::optional<std::uint64_t> parse_pss(std::string_view smaps_rollup);

/// Bytes of the VmHWM line of /proc/PID/status: the most that was ever resident; absent without
/// one.
std::optional<std::uint64_t> parse_peak(std::string_view status);

/// One user of a graphics driver, as its files' /proc/PID/fdinfo describe it.
struct DrmClient {
  std::string device;  ///< bus address, as in "0000:03:00.0"; else the driver's name
  std::string id;      ///< drm-client-id: files of equal device and id are one client
  std::vector<std::pair<std::string, std::uint64_t>> regions;  ///< bytes by memory region
};

/// A client from the text of /proc/PID/fdinfo/FD by the kernel's drm-usage-stats; absent for every
/// other kind of file. A region's bytes are those resident, else all of its buffers.
std::optional<DrmClient> parse_fdinfo(std::string_view fdinfo);

/// Bytes by device that `processes` hold, from
/// nvidia-smi --query-compute-apps=pid,used_memory,gpu_uuid --format=csv,noheader,nounits.
/// Lines without a number ("[N/A]") are left out.
std::vector<trace::DeviceMemory> parse_compute_apps(std::string_view csv,
                                                    const std::vector<pid_t>& processes);

}  // namespace paceline::machine
