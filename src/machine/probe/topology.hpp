#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::machine {

/// Logical processors near a part of the memory.
struct MemoryNode {
  int id = 0;
  std::vector<int> cpus;
};

/// Caches and memory nodes as hwloc sees them. What it does not say is absent.
struct Topology {
  std::optional<std::uint64_t> l1d_bytes;  ///< of the first core
  std::optional<std::uint64_t> l2_bytes;   ///< likewise
  std::optional<std::uint64_t> l3_bytes;   ///< likewise
  std::optional<std::string> l3_cpus;      ///< logical processors that share it, as in "0-7"
  /// Of the caches before memory: how many there are, bytes of the largest and of all together.
  std::optional<int> llc_instances;
  std::optional<std::uint64_t> llc_each_bytes;
  std::optional<std::uint64_t> llc_bytes;
  std::vector<MemoryNode> nodes;
};

/// This machine's, in about 10 ms; for tests one that hwloc makes up of its own description, as
/// "node:2 l3:2(size=1048576) pu:4". Says nothing where hwloc fails.
Topology read_topology(const char* synthetic = nullptr);

/// How many logical processors this process may run on, at least 1.
int usable_cpus();

/// Lets the calling thread run on these logical processors alone; false where the system refuses.
bool run_on(const std::vector<int>& cpus);

}  // namespace paceline::machine
