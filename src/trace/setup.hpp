#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::trace {

/// How drafts are made, by llama-server's --spec-type names (draft-dflash, ngram-map-k).
enum class SpecType {
  none,
  draft_simple,
  draft_mtp,
  draft_dflash,
  draft_eagle3,
  draft_dspark,
  ngram_simple,
  ngram_map_k,
  ngram_map_k4v,
  ngram_mod,
  ngram_cache,
  undeclared,  ///< of a running server: whatever it does, which its facts say where they can
};

/// True for the types that draft from the text itself and need no drafter file.
inline bool is_ngram(SpecType type) {
  return type == SpecType::ngram_simple || type == SpecType::ngram_map_k ||
         type == SpecType::ngram_map_k4v || type == SpecType::ngram_mod ||
         type == SpecType::ngram_cache;
}

/// The longest draft of ngram-cache in tokens, which llama.cpp v0.5.0 fixes.
inline constexpr int ngram_cache_draft = 8;

/// True for the types whose drafter is a file of its own; draft-mtp may be inside the target's.
inline bool needs_drafter_file(SpecType type) {
  return type == SpecType::draft_simple || type == SpecType::draft_dflash ||
         type == SpecType::draft_eagle3 || type == SpecType::draft_dspark;
}

/// Sizes of an n-gram drafter in tokens; an absent one is llama.cpp's own default. ngram-cache has
/// none.
struct NgramSizes {
  std::optional<int> size_n;    ///< tokens that are looked up; of ngram-mod its n-match
  std::optional<int> size_m;    ///< longest draft; of ngram-mod its n-max
  std::optional<int> min_hits;  ///< times seen before it drafts; not of ngram-mod
  std::optional<int> n_min;     ///< shortest draft; of ngram-mod only
};

/// One n-gram drafter of several drafters.
struct NgramDrafter {
  SpecType type = SpecType::ngram_simple;
  NgramSizes sizes;
};

/// How long a drafter drafts: a setup's own way, or a shorter one that is asked of an open engine.
struct Drafting {
  int n_max = 0;     ///< longest draft in tokens; of n-grams their longest
  double p_min = 0;  ///< a draft ends before the first token that its drafter gives less; of
                     ///< n-grams always 0
};

/// How many tokens of each draft are accepted around a mean that is asked for: each place has the
/// same chance once the one before it was accepted, or as nearly the same number every time as can
/// be.
enum class AcceptSchedule { geometric, minimum_variance };

/// Acceptance drawn by chance, whatever the target thinks of a draft: times a machine at an
/// acceptance that is known. What is generated then means nothing.
struct ForcedAcceptance {
  std::optional<double>
      length;  ///< mean tokens of a pass with a full draft, the target's own included
  AcceptSchedule schedule = AcceptSchedule::geometric;  ///< of `length`
  std::vector<double> rates;  ///< without `length`: share of full drafts accepted up to each place
};

/// What was asked of the sampler. An absent value was not asked for and is the engine's default.
struct Sampling {
  std::optional<double> temp;
  std::optional<int> top_k;
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<double> typical_p;
  std::optional<double> top_n_sigma;
  std::optional<double> xtc_probability;
  std::optional<double> xtc_threshold;
  std::optional<int> penalty_last_n;  ///< in tokens
  std::optional<double> penalty_repeat;
  std::optional<double> penalty_freq;
  std::optional<double> penalty_present;
  std::optional<std::string> samplers;  ///< the chain, names separated by ";"
  std::optional<double> tool_temp;  ///< in force where neither `temp` nor the model's file says one
};

/// The form in which prompts are sent: text to continue, or messages through the chat template.
enum class PromptForm { raw, chat };

/// The types of a KV cache that llama.cpp v0.5.0 takes, by ggml's names.
inline constexpr std::array<const char*, 9> kv_cache_types = {
    "f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"};

/// What was asked of a KV cache, by names of kv_cache_types; an absent one is the engine's default.
struct KvTypes {
  std::optional<std::string> k;
  std::optional<std::string> v;
};

/// What an arm asks an engine to load. Paths are as the user gave them.
struct Setup {
  std::string model_path;
  std::optional<std::string> draft_path;  ///< absent: no drafter file (plain, or MTP in the target)
  std::optional<std::string> mmproj_path = {};  ///< vision projector to load beside the target, in
                                                ///< the embedded engine; absent: none
  SpecType spec_type = SpecType::none;          ///< the only drafter, or the last one that is asked
  int draft_n_max = 0;     ///< longest draft in tokens; 0 = the drafter's own longest; of none, the
                           ///< longest whose pass must be possible, for reading texts again
  double draft_p_min = 0;  ///< as Drafting::p_min; llama.cpp's default is 0
  NgramSizes ngram;        ///< for the n-gram types only
  std::vector<NgramDrafter> asked_first;  ///< before spec_type, in llama.cpp's order; the first
                                          ///< that drafts anything makes the pass's draft
  bool backend_sampling = true;  ///< draft tokens are picked on the device where that can be done
  std::optional<ForcedAcceptance> forced;  ///< absent: the target decides what it accepts
  KvTypes kv;                              ///< of the target
  KvTypes draft_kv;                        ///< of a drafter that has a context of its own
  int n_ctx = 4096;                        ///< tokens of context to allocate
  int threads = 1;                         ///< CPU threads of the engine, for prefill and decode
  std::string server_bin;                  ///< llama-server to start; empty: none
  std::vector<std::string> server_args;    ///< put behind its own arguments, as they are
  std::string url;                         ///< of a running server; empty: none
};

/// The drafters of a setup in the order they are asked; none for plain.
inline std::vector<SpecType> drafters_of(const Setup& setup) {
  std::vector<SpecType> types;
  for (const NgramDrafter& one : setup.asked_first) types.push_back(one.type);
  if (setup.spec_type != SpecType::none) types.push_back(setup.spec_type);
  return types;
}

/// Says of an arm that it is another one with one default of its sampler switched off.
struct Neutralised {
  std::string arm;        ///< the other one
  std::string parameter;  ///< as in asked_parameters
  double value = 0;       ///< in force in the other one, though nobody asked for it
};

/// Name of the arm without a drafter where there is one.
inline constexpr const char* plain_arm = "plain";

/// Settings on an engine: what is compared with what.
struct Arm {
  std::string name;
  Setup setup;
  Sampling sampling;
  std::optional<Neutralised> neutralised = {};  ///< absent: an arm of its own
  std::string plain = plain_arm;  ///< name of the arm that it is held against: plain decoding with
                                  ///< the same KV types; its own name for such an arm
};

/// True of an arm that others are held against.
inline bool is_denominator(const Arm& arm) { return arm.plain == arm.name; }

/// Arm of a name; null without one.
inline const Arm* find_arm(const std::vector<Arm>& arms, std::string_view name) {
  for (const Arm& arm : arms)
    if (arm.name == name) return &arm;
  return nullptr;
}

}  // namespace paceline::trace
