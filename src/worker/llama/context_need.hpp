#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "llama.h"

namespace paceline::worker {

/// What a context takes of the memory of all devices, in bytes.
struct ContextNeed {
  std::uint64_t context_bytes = 0;  ///< KV cache and recurrent state
  std::uint64_t compute_bytes = 0;
  std::uint64_t main_memory_bytes = 0;  ///< of both, what lies in the main memory
};

/// What a context of a model will need, by llama.cpp's own plan for it and before anything is
/// allocated. Past 1 Mi tokens in proportion, from half as many and as many: what a longer context
/// needs more of grows with each token. Nothing when llama.cpp does not plan it; it says why when
/// it is really asked.
std::optional<ContextNeed> plan_context(const std::string& path, llama_model_params model,
                                        llama_context_params context);

/// "context 2560000000 bytes, compute 1000 bytes".
std::string need_text(const ContextNeed& need);

/// Bytes of main memory that a new program can have, swap included; absent where the system does
/// not say.
std::optional<std::uint64_t> main_memory_left();

}  // namespace paceline::worker
