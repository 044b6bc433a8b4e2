#pragma once

#include <optional>
#include <string>

namespace paceline::trace {

/// How drafts are made, by llama-server's --spec-type names (draft-dflash, draft-mtp).
enum class SpecType { none, draft_dflash, draft_mtp };

/// What was asked of the sampler. An absent value was not asked for and is the engine's default.
struct Sampling {
  std::optional<double> temp;
  std::optional<int> top_k;
  std::optional<double> top_p;
  std::optional<double> min_p;
};

/// What an arm asks an engine to load. Paths are as the user gave them.
struct Setup {
  std::string model_path;
  std::optional<std::string> draft_path;  ///< absent: no drafter file (plain, or MTP in the target)
  SpecType spec_type = SpecType::none;
  int draft_n_max = 0;  ///< longest draft in tokens; 0 = the drafter's own longest; unused for none
  int n_ctx = 4096;     ///< tokens of context to allocate
  int threads = 1;      ///< CPU threads of the engine, for prefill and decode
};

/// Settings on an engine: what is compared with what. The arm without a drafter is named "plain".
struct Arm {
  std::string name;
  Setup setup;
  Sampling sampling;
};

}  // namespace paceline::trace
