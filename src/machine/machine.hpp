#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::machine {

/// Tasks that ran or waited to run, averaged over one, five and fifteen minutes.
struct LoadAverages {
  double one_minute = 0;
  double five_minutes = 0;
  double fifteen_minutes = 0;
};

/// A part of the memory and the processors that are near it.
struct NumaNode {
  int id = 0;
  std::string cpus;  ///< logical processors, as in "0-3,8-11"
  std::optional<std::uint64_t> memory_bytes;
};

/// The machine as the system describes it. What cannot be read is absent, never guessed.
struct MachineFacts {
  std::optional<std::string> processor;
  std::optional<int> cores_online;         ///< logical processors
  std::optional<int> cores_physical;       ///< distinct cores behind them
  std::optional<std::uint64_t> l1d_bytes;  ///< of the first core
  std::optional<std::uint64_t> l2_bytes;   ///< of the first core
  std::optional<std::uint64_t> l3_bytes;   ///< that the first core shares with others
  std::optional<std::string> l3_cpus;      ///< logical processors that share it, as in "0-7"
  std::optional<std::uint64_t> llc_bytes;  ///< of all caches before memory together
  std::optional<int> llc_instances;        ///< how many those are
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> memory_available_bytes;  ///< for a new program, without swapping
  std::optional<std::vector<NumaNode>> numa_nodes;
  std::optional<std::string> kernel;
  std::optional<std::string> os;
  std::optional<bool> virtualised;        ///< the processor says that a hypervisor is below
  std::optional<std::string> hypervisor;  ///< its name, or the vendor of the virtual hardware
  std::optional<std::string> governor;    ///< of the first core's clock
  std::optional<double> clock_mhz;        ///< fastest core at the time of reading
  std::optional<double> clock_min_mhz;    ///< of the first core's hardware
  std::optional<double> clock_max_mhz;    ///< likewise, boost included
  std::optional<LoadAverages> load;
};

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

}  // namespace paceline::machine
