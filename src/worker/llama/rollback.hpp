#pragma once

#include "common.h"
#include "util/result.hpp"

namespace paceline::worker {

struct LoadedModel;

/// A point to go back to in both contexts. What is saved follows from what each memory can undo by
/// itself, as in llama-server.
class Checkpoint {
 public:
  /// Before drafting: where the contexts stand, and the drafter's state if it cannot undo a draft.
  void mark(LoadedModel& model, int depth);

  /// After drafting: takes the draft back out of the drafter's memory, and saves the target's state
  /// when a verify of `offered` draft tokens could not be undone otherwise.
  util::Result<void> protect(LoadedModel& model, int offered);

  /// Marks a point that any number of tokens may follow: saves the target's state unless its memory
  /// keeps every token.
  void save(LoadedModel& model, int depth);

  /// Goes back to the mark in both contexts, by the states that were saved.
  util::Result<void> restore(LoadedModel& model) const;

 private:
  common_prompt_checkpoint saved_{};
};

/// True when undoing `tokens` tokens of the target's last pass needs a saved state and a replay.
bool needs_replay(const LoadedModel& model, int tokens);

/// Forgets everything from position `from` on, in both contexts.
util::Result<void> roll_back(LoadedModel& model, int from);

}  // namespace paceline::worker
