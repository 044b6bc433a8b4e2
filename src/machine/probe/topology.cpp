#include "machine/probe/topology.hpp"

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace paceline::machine {

namespace {

using Handle = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using CpuSet = std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)>;

constexpr std::array levels{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                            HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};

Handle load(const char* synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, &hwloc_topology_destroy};
  Handle topology(raw, &hwloc_topology_destroy);
  if (synthetic != nullptr && hwloc_topology_set_synthetic(raw, synthetic) != 0) topology.reset();
  if (topology && hwloc_topology_load(raw) != 0) topology.reset();
  return topology;
}

/// Bytes of each cache of a level, those of unknown size left out.
std::vector<std::uint64_t> caches_of(hwloc_topology_t topology, hwloc_obj_type_t level) {
  std::vector<std::uint64_t> bytes;
  const int count = hwloc_get_nbobjs_by_type(topology, level);
  for (int i = 0; i < count; ++i) {
    const auto* cache = hwloc_get_obj_by_type(topology, level, static_cast<unsigned>(i));
    if (cache->attr->cache.size > 0) bytes.push_back(cache->attr->cache.size);
  }
  return bytes;
}

std::optional<std::uint64_t> first_of(const std::vector<std::uint64_t>& bytes) {
  return bytes.empty() ? std::nullopt : std::optional(bytes.front());
}

std::optional<std::string> cpus_of_first(hwloc_topology_t topology, hwloc_obj_type_t level) {
  const auto* cache = hwloc_get_obj_by_type(topology, level, 0);
  char* list = nullptr;
  if (cache == nullptr || hwloc_bitmap_list_asprintf(&list, cache->cpuset) < 0) return std::nullopt;
  const std::unique_ptr<char, decltype(&std::free)> owned(list, &std::free);
  return std::string(list);
}

std::vector<MemoryNode> nodes_of(hwloc_topology_t topology) {
  std::vector<MemoryNode> nodes;
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  for (int i = 0; i < count; ++i) {
    const auto* object =
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    MemoryNode node{static_cast<int>(object->os_index), {}};
    for (int cpu = hwloc_bitmap_next(object->cpuset, -1); cpu >= 0;
         cpu = hwloc_bitmap_next(object->cpuset, cpu))
      node.cpus.push_back(cpu);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// A set that holds processors up to `highest`: machines have more than a cpu_set_t can.
CpuSet empty_set(int highest, std::size_t& bytes) {
  const auto cpus = static_cast<std::size_t>(highest) + 1;
  bytes = CPU_ALLOC_SIZE(cpus);
  CpuSet set(CPU_ALLOC(cpus), [](cpu_set_t* owned) { CPU_FREE(owned); });
  if (set) CPU_ZERO_S(bytes, set.get());
  return set;
}

}  // namespace

Topology read_topology(const char* synthetic) {
  Topology found;
  const Handle topology = load(synthetic);
  if (!topology) return found;
  found.l1d_bytes = first_of(caches_of(topology.get(), HWLOC_OBJ_L1CACHE));
  found.l2_bytes = first_of(caches_of(topology.get(), HWLOC_OBJ_L2CACHE));
  found.l3_bytes = first_of(caches_of(topology.get(), HWLOC_OBJ_L3CACHE));
  if (found.l3_bytes) found.l3_cpus = cpus_of_first(topology.get(), HWLOC_OBJ_L3CACHE);
  for (const auto level : levels) {
    const auto caches = caches_of(topology.get(), level);
    if (caches.empty()) continue;
    found.llc_instances = static_cast<int>(caches.size());
    found.llc_each_bytes = *std::max_element(caches.begin(), caches.end());
    found.llc_bytes = 0;
    for (const std::uint64_t bytes : caches) *found.llc_bytes += bytes;
  }
  found.nodes = nodes_of(topology.get());
  return found;
}

int usable_cpus() {
  std::size_t bytes = 0;
  const CpuSet set =
      empty_set(static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))), bytes);
  if (!set || sched_getaffinity(0, bytes, set.get()) != 0)
    return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return std::max(1, CPU_COUNT_S(bytes, set.get()));
}

bool run_on(const std::vector<int>& cpus) {
  if (cpus.empty()) return false;
  std::size_t bytes = 0;
  const CpuSet set = empty_set(*std::max_element(cpus.begin(), cpus.end()), bytes);
  if (!set) return false;
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

}  // namespace paceline::machine
