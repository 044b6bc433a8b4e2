#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ggml.h"
#include "model/gguf.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// As llama-server's defaults: tokens in one decode call, and in one piece of it.
inline constexpr int batch_tokens = 2048;
inline constexpr int ubatch_tokens = 512;

/// How drafts will be asked for, before llama.cpp has had its say.
struct DraftPlan {
  int n_max = 0;             ///< longest draft to ask for, in tokens; 0 without a drafter
  std::optional<int> block;  ///< block size of a block drafter, in tokens
  std::optional<trace::NgramSizes> ngram;             ///< of an n-gram drafter, defaults filled in
  std::vector<trace::NgramDrafter> asked_first = {};  ///< before it, likewise

  /// The longest draft of any of them, in tokens.
  int longest() const;
};

/// ggml's type of a KV cache; F16, as llama-server has it, where none is asked for. Absent for a
/// name that is none of trace::kv_cache_types.
std::optional<ggml_type> kv_type(const std::optional<std::string>& asked);

/// Refuses numbers and combinations in a setup that make no sense for any model.
util::Result<void> check_setup(const trace::Setup& setup);

/// Refuses a drafter that does not fit the target, on which llama.cpp would abort or draft rubbish.
/// `drafter` is the drafter's file, or null when the setup names none.
util::Result<DraftPlan> plan_drafts(const trace::Setup& setup, const model::Gguf& target,
                                    const model::Gguf* drafter);

}  // namespace paceline::worker
