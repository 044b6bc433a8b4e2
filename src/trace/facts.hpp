#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/file_facts.hpp"

namespace paceline::trace {

/// One thing that the engine can compute on, and its memory now.
struct Device {
  std::string name;  ///< as in "CPU" or "CUDA0"
  std::string type;  ///< "CPU", "GPU", "integrated GPU", "accelerator" or "other"
  std::string description;
  std::uint64_t memory_free_bytes = 0;
  std::uint64_t memory_total_bytes = 0;
};

/// The devices of an engine, in its own order.
struct Devices {
  std::vector<Device> list;
};

/// Every sampling parameter that was in force, defaults nobody asked for included.
struct EffectiveSampling {
  double temp = 0;
  int top_k = 0;
  double top_p = 0;
  double min_p = 0;
  double typical_p = 0;
  double top_n_sigma = 0;
  double xtc_probability = 0;
  double penalty_repeat = 0;
  int penalty_last_n = 0;
  double dry_multiplier = 0;
  std::vector<std::string> chain;  ///< the samplers in the order they ran
};

/// Bytes that the engine says it allocated, and what the process really holds.
struct MemoryFacts {
  std::uint64_t model_bytes = 0;
  std::uint64_t context_bytes = 0;
  std::uint64_t compute_bytes = 0;
  std::uint64_t resident_bytes = 0;  ///< of the whole engine process, after loading
};

/// What really runs in one launch, said by the engine after it has loaded.
struct EngineFacts {
  std::string engine;  ///< "llama.cpp (embedded)" or "simulated"
  std::string version;
  std::string build;
  std::vector<std::string> devices;  ///< backends that ggml uses, with their description
  model::FileFacts target;
  std::optional<model::FileFacts>
      drafter;                          ///< absent: plain, or the drafter is in the target's file
  std::optional<int> draft_block;       ///< block size of a block drafter, in tokens
  std::optional<int> draft_n_max;       ///< longest draft after the drafter's own clamp
  std::optional<bool> draft_on_device;  ///< where draft tokens are picked; absent: not known yet
  std::string rollback;                 ///< "partial", "snapshots" or "replay"; "none" for plain
  EffectiveSampling sampling;
  int n_ctx = 0;
  int n_batch = 0;
  int n_ubatch = 0;
  int threads = 0;
  std::string cache_type_k;
  std::string cache_type_v;
  bool flash_attention = false;
  MemoryFacts memory;
  double load_s = 0;
};

}  // namespace paceline::trace
