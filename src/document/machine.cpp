#include "document/machine.hpp"

#include <utility>

namespace paceline::document {

namespace {

std::optional<std::vector<NumaNode>> to_nodes(
    const std::optional<std::vector<machine::NumaNode>>& from, const std::string& unread) {
  if (!from) return std::nullopt;
  std::vector<NumaNode> nodes;
  for (const auto& node : *from)
    nodes.push_back({node.id, node.cpus, known_or(node.memory_bytes, unread)});
  return nodes;
}

}  // namespace

Machine to_machine(const machine::MachineFacts& facts, const std::string& unread) {
  std::optional<LoadAverages> load;
  if (facts.load)
    load =
        LoadAverages{facts.load->one_minute, facts.load->five_minutes, facts.load->fifteen_minutes};
  return {known_or(facts.processor, unread),
          known_or(facts.cores_online, unread),
          known_or(facts.cores_physical, unread),
          known_or(facts.l1d_bytes, unread),
          known_or(facts.l2_bytes, unread),
          known_or(facts.l3_bytes, unread),
          known_or(facts.l3_cpus, unread),
          known_or(facts.llc_bytes, unread),
          known_or(facts.llc_instances, unread),
          known_or(facts.memory_bytes, unread),
          known_or(facts.memory_available_bytes, unread),
          known_or(to_nodes(facts.numa_nodes, unread), unread),
          known_or(facts.kernel, unread),
          known_or(facts.os, unread),
          known_or(facts.virtualised, unread),
          known_or(facts.hypervisor, unread),
          known_or(facts.governor, unread),
          known_or(facts.clock_mhz, unread),
          known_or(facts.clock_min_mhz, unread),
          known_or(facts.clock_max_mhz, unread),
          known_or(facts.power_cap_w, unread),
          known_or(load, unread)};
}

Known<std::vector<Device>> to_devices(const util::Result<trace::Devices>& devices) {
  if (!devices) return not_known<std::vector<Device>>(devices.error().message);
  std::vector<Device> list;
  for (const auto& device : devices->list)
    list.push_back({device.name, device.type, device.description, device.memory_free_bytes,
                    device.memory_total_bytes});
  return known(std::move(list));
}

LoadNow to_load_now(const trace::Noise& noise) {
  LoadNow now;
  now.elapsed_s = noise.elapsed_s;
  now.steal_share = noise.cpu_s > 0 ? known(noise.steal_s / noise.cpu_s)
                                    : not_known<double>("/proc/stat does not tell");
  now.pressure_share = noise.pressure_s && noise.elapsed_s > 0
                           ? known(*noise.pressure_s / noise.elapsed_s)
                           : not_known<double>("the kernel keeps no pressure figures");
  return now;
}

}  // namespace paceline::document
