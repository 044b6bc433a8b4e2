#pragma once

#include <map>
#include <optional>
#include <string>

#include "common.h"
#include "llama-cpp.h"
#include "llama.h"
#include "speculative.h"
#include "trace/facts.hpp"
#include "trace/setup.hpp"
#include "util/result.hpp"
#include "worker/llama/chat.hpp"
#include "worker/llama/context_fill.hpp"
#include "worker/llama/decoding.hpp"
#include "worker/llama/drafters.hpp"
#include "worker/llama/facts.hpp"
#include "worker/llama/loading.hpp"
#include "worker/llama/projector.hpp"

namespace paceline::worker {

/// What a drafter knows beside the KV caches when a request begins: nothing, or what it learned in
/// the requests before (n-gram tables).
enum class DrafterState { fresh, kept };

/// True of drafters whose decode calls take a row of hidden state beside each token: they carry the
/// row of the last token from one pass to the next.
bool takes_hidden_rows(trace::SpecType type);

/// One target with its drafter, as llama.cpp holds them. Members are freed in reverse order: the
/// drafter's context reads the target's.
struct LoadedModel {
  trace::Setup setup;
  trace::EngineFacts facts;
  std::map<std::string, DeviceRoom> room_before_load;
  Watches watches;
  llama_model_ptr target_model;
  llama_model_ptr drafter_model;  ///< null when the target's own file holds the drafter
  llama_context_ptr target;
  ProjectorPtr projector;     ///< null when none was asked for
  llama_context_ptr drafter;  ///< null for plain, and for drafters that need no model
  common_context_seq_rm_type target_rollback = COMMON_CONTEXT_SEQ_RM_TYPE_NO;
  common_context_seq_rm_type drafter_rollback = COMMON_CONTEXT_SEQ_RM_TYPE_NO;
  common_params_speculative speculative;
  int longest_draft = 0;  ///< of any drafter in tokens, after llama.cpp's own clamp
  int widest_pass = 0;    ///< most tokens of one pass with logits on all
  Drafters drafters;
  ChatTemplatesPtr chat_templates;  ///< null until a request has messages
  ContextFill fill;                 ///< empty until a job fills the context
  Batch batch;

  LoadedModel();

  bool speculates() const { return setup.spec_type != trace::SpecType::none; }
  bool has_drafter_context() const { return drafter != nullptr; }

  const llama_vocab* vocabulary() const { return llama_model_get_vocab(target_model.get()); }

  /// Forgets everything the last job left, a fill included: both KV caches and the drafter's own
  /// state, unless that is kept; fresh drafters are held to `drafting`, if any. Ends with the
  /// graphs reserved, so that no later decode call pays for it.
  util::Result<void> reset(DrafterState state = DrafterState::fresh,
                           const std::optional<trace::Drafting>& drafting = {});

  /// Refuses a way of drafting that the open drafter, as it was loaded, cannot be held to.
  util::Result<void> check_drafting(const trace::Drafting& drafting) const;

  /// What drafters are made with: as loaded, or held to `drafting`.
  common_params_speculative parameters_for(const std::optional<trace::Drafting>& drafting) const;

 private:
  util::Result<void> renew_drafters(const std::optional<trace::Drafting>& drafting);
  util::Result<void> prime();
};

}  // namespace paceline::worker
