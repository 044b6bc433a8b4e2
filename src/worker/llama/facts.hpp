#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "llama.h"
#include "model/gguf.hpp"
#include "trace/facts.hpp"

namespace paceline::worker {

struct LoadedModel;

/// What a device has of a memory of its own, in bytes.
struct DeviceRoom {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

/// Now, by name, of the devices that have a memory of their own and tell of it.
std::map<std::string, DeviceRoom> device_room();

/// What the library says now that it allocated, by device, and what the devices have left. Without
/// the buffers that it puts logits and extracted rows into, of which it does not tell.
trace::MemoryFacts memory_of(const LoadedModel& model);

/// Where a model that was just loaded, and its context, were placed.
trace::Placement placement_of(const llama_model* model);

/// Fills in what the loaded model and its files say about themselves. `drafter` may be null.
void fill_facts(LoadedModel& model, const model::Gguf& target, const model::Gguf* drafter);

}  // namespace paceline::worker
