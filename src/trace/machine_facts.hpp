#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::trace {

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
  std::optional<double> power_cap_w;      ///< of all processor packages together, sustained
  std::optional<LoadAverages> load;
};

}  // namespace paceline::trace
