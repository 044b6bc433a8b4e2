#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/machine_facts.hpp"

namespace paceline::machine {

using trace::LoadAverages;
using trace::MachineFacts;
using trace::NumaNode;

/// Reads the facts of this machine; takes about 15 milliseconds and starts nothing.
MachineFacts read_machine();

/// What /proc/cpuinfo says; a field that its text does not hold is absent.
struct CpuInfo {
  std::optional<std::string> processor;
  std::optional<int> cores_physical;
  std::optional<bool> virtualised;
  std::optional<double> clock_mhz;
};

CpuInfo parse_cpuinfo(std::string_view text);

/// Bytes of one line of /proc/meminfo, as "MemTotal"; absent when its text has no usable one. Lines
/// of a NUMA node's own meminfo are read, too.
std::optional<std::uint64_t> parse_memory(std::string_view meminfo,
                                          std::string_view wanted = "MemTotal");

/// The system's pretty name from /etc/os-release; absent without one.
std::optional<std::string> parse_os(std::string_view os_release);

/// The three averages of /proc/loadavg; absent when one is missing or no number.
std::optional<LoadAverages> parse_load(std::string_view loadavg);

/// The memory nodes in a folder as /sys/devices/system/node; absent when there is none to read.
std::optional<std::vector<NumaNode>> read_numa_nodes(const std::filesystem::path& folder);

/// Megahertz from the kilohertz of a cpufreq file; absent for anything that is no clock.
std::optional<double> parse_khz(std::string_view khz);

/// Watts that all packages below /sys/class/powercap may take over a long time; absent where one of
/// them does not say so, or none is there.
std::optional<double> read_power_cap_w(const std::filesystem::path& powercap);

}  // namespace paceline::machine
