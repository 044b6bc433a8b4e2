#include "worker/llama/facts.hpp"

#include <fmt/format.h>

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

void add_memory(const llama_context* context, bool own_weights, trace::MemoryFacts& memory) {
  for (const auto& [type, bytes] : llama_get_memory_breakdown(context)) {
    // Two contexts on one model both count its weights.
    if (own_weights) memory.model_bytes += bytes.model;
    memory.context_bytes += bytes.context;
    memory.compute_bytes += bytes.compute;
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
  facts.cache_type_k = ggml_type_name(GGML_TYPE_F16);
  facts.cache_type_v = ggml_type_name(GGML_TYPE_F16);
  facts.flash_attention = !flash_attention_was_refused();
  facts.memory = memory_of(model);
}

trace::MemoryFacts memory_of(const LoadedModel& model) {
  trace::MemoryFacts memory;
  add_memory(model.target.get(), true, memory);
  if (model.has_drafter_context())
    add_memory(model.drafter.get(), model.drafter_model != nullptr, memory);
  memory.resident_bytes = resident_bytes();
  return memory;
}

}  // namespace paceline::worker
