#include "worker/llama/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "build-info.h"
#include "ggml-backend.h"
#include "llama-ext.h"
#include "model/facts.hpp"
#include "worker/llama/checks.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/runtime.hpp"

namespace paceline::worker {

namespace {

constexpr const char* main_memory = "CPU";

std::vector<std::string> devices() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    names.push_back(fmt::format("{} ({})", ggml_backend_dev_name(device),
                                ggml_backend_dev_description(device)));
  }
  return names;
}

/// Resident bytes of this process; 0 kB lines do not exist, so 0 means that /proc cannot be read.
std::uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    std::uint64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

/// A device's own memory; none of what computes in the main memory, which all programs share.
bool has_memory(ggml_backend_dev_t device) {
  const auto type = ggml_backend_dev_type(device);
  return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

/// As common_memory_breakdown_print tells devices apart.
std::string device_of(ggml_backend_buffer_type_t type) {
  ggml_backend_dev_t device = ggml_backend_buft_get_device(type);
  if (device == nullptr || ggml_backend_buft_is_host(type)) return main_memory;
  return ggml_backend_dev_name(device);
}

trace::DeviceAllocation& allocation_on(const std::string& name,
                                       std::vector<trace::DeviceAllocation>& devices) {
  const auto known = std::find_if(devices.begin(), devices.end(),
                                  [&](const auto& device) { return device.name == name; });
  if (known != devices.end()) return *known;
  devices.push_back({.name = name});
  return devices.back();
}

void add_memory(const llama_context* context, bool own_weights, trace::MemoryFacts& memory) {
  for (const auto& [type, bytes] : llama_get_memory_breakdown(context)) {
    // Two contexts on one model both count its weights.
    const std::size_t weights = own_weights ? bytes.model : 0;
    memory.model_bytes += weights;
    memory.context_bytes += bytes.context;
    memory.compute_bytes += bytes.compute;
    auto& device = allocation_on(device_of(type), memory.devices);
    device.model_bytes += weights;
    device.context_bytes += bytes.context;
    device.compute_bytes += bytes.compute;
  }
}

const char* rollback_name(const LoadedModel& model) {
  if (!model.speculates()) return "none";
  switch (model.target_rollback) {
    case COMMON_CONTEXT_SEQ_RM_TYPE_PART:
      return "partial";
    case COMMON_CONTEXT_SEQ_RM_TYPE_RS:
      return "snapshots";
    default:
      return "replay";
  }
}

}  // namespace

trace::Placement placement_of(const llama_model* model) {
  trace::Placement placement;
  for (int i = 0; i < llama_model_n_devices(model); ++i)
    placement.devices.emplace_back(ggml_backend_dev_name(llama_model_get_device(model, i)));
  const PlacementLog log = take_placement_log();
  placement.layers_offloaded = log.layers_offloaded;
  placement.layers = log.layers;
  if (!log.graph_splits.empty()) placement.graph_splits = log.graph_splits;
  return placement;
}

std::map<std::string, DeviceRoom> device_room() {
  std::map<std::string, DeviceRoom> room;
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    if (!has_memory(device)) continue;
    std::size_t free = 0;
    std::size_t total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    if (total > 0) room[ggml_backend_dev_name(device)] = {free, total};
  }
  return room;
}

trace::MemoryFacts memory_of(const LoadedModel& model) {
  trace::MemoryFacts memory;
  add_memory(model.target.get(), true, memory);
  if (model.has_drafter_context())
    add_memory(model.drafter.get(), model.drafter_model != nullptr, memory);
  memory.resident_bytes = resident_bytes();
  const auto room = device_room();
  for (auto& device : memory.devices) {
    if (const auto now = room.find(device.name); now != room.end()) {
      device.total_bytes = now->second.total_bytes;
      device.free_after_bytes = now->second.free_bytes;
    }
    const auto before = model.room_before_load.find(device.name);
    if (before != model.room_before_load.end())
      device.free_before_bytes = before->second.free_bytes;
  }
  return memory;
}

void fill_facts(LoadedModel& model, const model::Gguf& target, const model::Gguf* drafter) {
  trace::EngineFacts& facts = model.facts;
  facts.engine = "llama.cpp (embedded)";
  facts.version = llama_version();
  facts.build = llama_build_info();
  facts.devices = devices();
  facts.target = model::facts_of(target);
  if (drafter != nullptr) facts.drafter = model::facts_of(*drafter);
  facts.rollback = rollback_name(model);
  facts.n_ctx = static_cast<int>(llama_n_ctx(model.target.get()));
  facts.n_batch = static_cast<int>(llama_n_batch(model.target.get()));
  facts.n_ubatch = static_cast<int>(llama_n_ubatch(model.target.get()));
  facts.threads = llama_n_threads(model.target.get());
  facts.flash_attention = !flash_attention_was_refused();
  facts.memory = memory_of(model);
}

}  // namespace paceline::worker
