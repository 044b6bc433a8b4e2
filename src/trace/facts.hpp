#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/setup.hpp"

namespace paceline::trace {

/// What one GGUF file is, as the engine read it.
struct ModelFacts {
  std::string path;
  std::string architecture;
  std::string name;  ///< general.name; empty when the file has none
  std::uint64_t file_bytes = 0;
  std::uint64_t parameters = 0;
  std::map<std::string, std::uint64_t> bytes_by_type;  ///< tensor bytes per ggml type name
  int layers = 0;
  int embedding_length = 0;
  int vocabulary = 0;
  int context_train = 0;
  bool has_chat_template = false;
};

/// Who decided a sampling setting: the user, the model's file (general.sampling.*), this tool, or
/// the engine's library by its default.
enum class Origin { user, gguf, tool, library };

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

/// What really runs in one launch, said by the engine after it has loaded.
struct EngineFacts {
  std::string engine;  ///< "llama.cpp (embedded)" or "simulated"
  std::string version;
  std::string build;
  std::vector<std::string> devices;  ///< backends that ggml uses, with their description
  ModelFacts target;
  std::optional<ModelFacts> drafter;    ///< absent: plain, n-grams, or in the target's file
  std::optional<int> draft_block;       ///< block size of a block drafter, in tokens
  std::optional<NgramSizes> ngram;      ///< in force, with the defaults; of n-gram drafters only
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
