#include "document/memory.hpp"

#include <algorithm>

#include "document/fills.hpp"
#include "trace/names.hpp"

namespace paceline::document {

namespace {

constexpr const char* not_said = "a server does not say what it allocated";

MemoryReading to_reading(const trace::MemoryReading& from) {
  MemoryReading reading;
  reading.when = util::enum_name(from.when);
  reading.pss_bytes = known_or(from.pss_bytes, from.reason);
  reading.peak_bytes = known_or(from.peak_bytes, from.peak_reason);
  reading.available_bytes = known_or(from.available_bytes, "the system does not say");
  for (const auto& device : from.devices) reading.devices.push_back({device.device, device.bytes});
  return reading;
}

DeviceAllocation to_allocation(const trace::DeviceAllocation& from) {
  constexpr const char* unsaid = "the device has no memory of its own, or does not tell";
  DeviceAllocation device{from.name,
                          from.model_bytes,
                          from.context_bytes,
                          from.compute_bytes,
                          known_or(from.free_before_bytes, unsaid),
                          known_or(from.free_after_bytes, unsaid),
                          not_known<std::int64_t>(unsaid)};
  if (from.total_bytes && from.free_after_bytes)
    device.unaccounted_bytes = known(
        static_cast<std::int64_t>(*from.total_bytes - *from.free_after_bytes -
                                  (from.model_bytes + from.context_bytes + from.compute_bytes)));
  return device;
}

ArmMemory to_arm_memory(const trace::Launch& launch) {
  const trace::MemoryFacts& said = launch.facts->memory;
  const bool is_server = launch.facts->server.has_value();
  const auto allocated = [&](std::uint64_t bytes) {
    return is_server ? not_known<std::uint64_t>(not_said) : known(bytes);
  };
  ArmMemory memory;
  memory.arm = launch.arm;
  memory.model_bytes = allocated(said.model_bytes);
  memory.context_bytes = allocated(said.context_bytes);
  memory.compute_bytes = allocated(said.compute_bytes);
  const auto& projector = launch.facts->projector;
  memory.projector_bytes =
      projector ? known(projector->allocated_bytes)
                : not_known<std::uint64_t>(is_server ? not_said : "no projector was loaded");
  memory.resident_bytes = allocated(said.resident_bytes);
  for (const auto& device : said.devices) memory.devices.push_back(to_allocation(device));
  for (const auto& reading : launch.memory) memory.readings.push_back(to_reading(reading));
  return memory;
}

}  // namespace

Memory to_memory(const trace::Trace& trace) {
  Memory memory;
  for (const auto& arm : trace.header.arms) {
    const auto first = std::find_if(
        trace.launches.begin(), trace.launches.end(),
        [&](const trace::Launch& launch) { return launch.arm == arm.name && launch.facts; });
    if (first != trace.launches.end()) memory.by_arm.push_back(to_arm_memory(*first));
  }
  const bool any_read = std::any_of(memory.by_arm.begin(), memory.by_arm.end(),
                                    [](const ArmMemory& arm) { return !arm.readings.empty(); });
  memory.after_fill =
      any_read || memory.by_arm.empty()
          ? memory_after_fill(trace)
          : not_known<std::uint64_t>("the server is none of ours, and its memory was not read");
  return memory;
}

}  // namespace paceline::document
