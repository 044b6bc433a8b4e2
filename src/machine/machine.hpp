#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paceline::machine {

/// Tasks that ran or waited to run, averaged over one, five and fifteen minutes.
struct LoadAverages {
  double one_minute = 0;
  double five_minutes = 0;
  double fifteen_minutes = 0;
};

/// The machine as the system describes it. What cannot be read is absent, never guessed.
struct MachineFacts {
  std::optional<std::string> processor;
  std::optional<int> cores_online;         ///< logical processors
  std::optional<int> cores_physical;       ///< distinct cores behind them
  std::optional<std::uint64_t> l1d_bytes;  ///< of the first core
  std::optional<std::uint64_t> l2_bytes;   ///< of the first core
  std::optional<std::uint64_t> l3_bytes;   ///< that the first core shares with others
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::string> kernel;
  std::optional<std::string> os;
  std::optional<bool> virtualised;        ///< the processor says that a hypervisor is below
  std::optional<std::string> hypervisor;  ///< its name, or the vendor of the virtual hardware
  std::optional<std::string> governor;    ///< of the first core's clock
  std::optional<double> clock_mhz;        ///< fastest core at the time of reading
  std::optional<LoadAverages> load;
};

/// Reads the facts of this machine; takes a few milliseconds and starts nothing.
MachineFacts read_machine();

/// What /proc/cpuinfo says; a field that its text does not hold is absent.
struct CpuInfo {
  std::optional<std::string> processor;
  std::optional<int> cores_physical;
  std::optional<bool> virtualised;
  std::optional<double> clock_mhz;
};

CpuInfo parse_cpuinfo(std::string_view text);

/// Bytes of memory from /proc/meminfo; absent when its text has no usable MemTotal.
std::optional<std::uint64_t> parse_memory(std::string_view meminfo);

/// The system's pretty name from /etc/os-release; absent without one.
std::optional<std::string> parse_os(std::string_view os_release);

/// The three averages of /proc/loadavg; absent when one is missing or no number.
std::optional<LoadAverages> parse_load(std::string_view loadavg);

/// Bytes from a cache's sysfs size such as "512K" or "32M"; absent for anything else.
std::optional<std::uint64_t> parse_cache_size(std::string_view size);

}  // namespace paceline::machine
