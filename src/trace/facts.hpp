#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/file_facts.hpp"
#include "trace/server_facts.hpp"
#include "trace/setup.hpp"

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

/// How fast ggml moves memory on one device, in bytes/s, a sample a repeat.
struct DeviceSpeed {
  std::string name;
  std::uint64_t bytes = 0;                 ///< of the tensor that is copied and read
  std::vector<double> upload_bytes_per_s;  ///< from the host's memory to the device's
  std::vector<double> download_bytes_per_s;
  std::vector<double> read_bytes_per_s;  ///< F16 weights, by a product of matrix and vector
  std::string reason;                    ///< why nothing was measured; empty: it was
};

/// The same of all devices of an engine, in its own order.
struct DeviceSpeeds {
  std::vector<DeviceSpeed> list;
};

/// Who decided a sampling setting: the user, the model's file (general.sampling.*), this tool, the
/// engine's library by its default, or a server that does not say why.
enum class Origin { user, gguf, tool, library, server };

/// One sampling parameter in force.
struct SamplingSetting {
  std::string name;
  double value = 0;
  Origin origin = Origin::library;
};

/// Every sampling parameter that was in force, defaults nobody asked for included.
struct EffectiveSampling {
  std::vector<SamplingSetting> settings;
  std::vector<std::string> chain;  ///< the samplers in the order they ran, without those that idle
  Origin chain_origin = Origin::library;
  std::vector<std::string> unread;  ///< what the file recommends and nobody can read, in words
};

/// The value in force under a name; nothing when the engine does not say it.
inline std::optional<double> in_force(const EffectiveSampling& sampling, std::string_view name) {
  for (const SamplingSetting& setting : sampling.settings)
    if (setting.name == name) return setting.value;
  return std::nullopt;
}

/// Bytes that the engine says it allocated, and what the process really holds.
struct MemoryFacts {
  std::uint64_t model_bytes = 0;
  std::uint64_t context_bytes = 0;
  std::uint64_t compute_bytes = 0;
  std::uint64_t resident_bytes = 0;  ///< of the whole engine process, after loading
};

/// Where a model's work is done, as the engine's library tells when it loads it.
struct Placement {
  std::vector<std::string> devices;         ///< that hold layers; empty: the CPU alone
  std::optional<int> layers_offloaded;      ///< absent: no device that could take any
  std::optional<int> layers;                ///< the output counted as one; absent likewise
  std::optional<std::string> graph_splits;  ///< of a prompt's pass and of one token's ("5 / 3"), or
                                            ///< of both; absent: the library did not say
};

/// A vision projector that was loaded beside the target, and the one image prompt that passed
/// through both of them before anything was measured.
struct ProjectorFacts {
  model::FileFacts file;
  std::uint64_t allocated_bytes = 0;  ///< weights and buffers, on all devices, as its library says
  double load_s = 0;
  int image_width = 0;    ///< of the image, in pixels
  int image_height = 0;   ///< likewise
  int image_tokens = 0;   ///< places that the image takes in the target's context
  int prompt_tokens = 0;  ///< of the whole prompt, those included
  double encode_s = 0;    ///< of the image, by the projector
  double prefill_s = 0;   ///< of the whole prompt, by the target
};

/// What really runs in one launch, said by the engine after it has loaded.
struct EngineFacts {
  std::string engine;  ///< "llama.cpp (embedded)" or "simulated"
  std::string version;
  std::string build;
  std::vector<std::string> devices;            ///< backends that ggml uses, with their description
  std::optional<Placement> target_placement;   ///< absent: the engine does not tell
  std::optional<Placement> drafter_placement;  ///< likewise, or without a model for drafting
  model::FileFacts target;
  std::optional<model::FileFacts> drafter;  ///< absent: plain, n-grams, or in the target's file
  std::optional<int> draft_block;           ///< block size of a block drafter, in tokens
  std::optional<NgramSizes> ngram;        ///< in force, with the defaults; of n-gram drafters only
  std::vector<NgramDrafter> asked_first;  ///< likewise, of those that are asked before it
  std::optional<int> draft_n_max;         ///< longest draft after the drafter's own clamp
  std::optional<std::vector<double>> forced_rates;  ///< in force, by place; absent: not forced here
  std::optional<bool> draft_on_device;  ///< where draft tokens are picked; absent: not known yet
  std::optional<int> draft_candidates;  ///< tokens that the device leaves the host to pick from,
                                        ///< for each place; absent: it picks none
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
  std::optional<ProjectorFacts> projector;  ///< absent: none was asked for, or a server has it
  double load_s = 0;
  std::optional<ServerFacts> server;  ///< absent: the embedded engine
};

}  // namespace paceline::trace
