#include "worker/llama/rollback.hpp"

#include <fmt/format.h>

#include "worker/llama/loaded_model.hpp"

namespace paceline::worker {

namespace {

constexpr llama_state_seq_flags flags = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;

tl::unexpected<util::Error> not_rolled_back(const char* which, int from) {
  return util::fail(util::ErrorKind::engine,
                    fmt::format("llama.cpp could not take the {} back to {} tokens: its memory "
                                "does not allow it; try another --spec-type.",
                                which, from));
}

/// True when the target's memory has every token in cells of its own, none of which a later one
/// takes, so that it can go back to any of them.
bool keeps_every_token(const llama_model* model) {
  return llama_model_n_swa(model) == 0 && !llama_model_is_recurrent(model) &&
         !llama_model_is_hybrid(model);
}

}  // namespace

bool needs_replay(const LoadedModel& model, int tokens) {
  if (model.target_rollback == COMMON_CONTEXT_SEQ_RM_TYPE_FULL) return true;
  return model.target_rollback == COMMON_CONTEXT_SEQ_RM_TYPE_RS &&
         static_cast<unsigned>(tokens) > llama_n_rs_seq(model.target.get());
}

util::Result<void> roll_back(LoadedModel& model, int from) {
  if (!forget_from(model.target.get(), from)) return not_rolled_back("target", from);
  if (model.has_drafter_context() && !forget_from(model.drafter.get(), from))
    return not_rolled_back("drafter", from);
  return {};
}

void Checkpoint::mark(LoadedModel& model, int depth) {
  const llama_memory_t memory = llama_get_memory(model.target.get());
  saved_.update_pos(depth, llama_memory_seq_pos_min(memory, sequence),
                    llama_memory_seq_pos_max(memory, sequence));
  if (model.drafter_rollback == COMMON_CONTEXT_SEQ_RM_TYPE_FULL)
    saved_.update_dft(model.drafter.get(), sequence, flags);
}

util::Result<void> Checkpoint::protect(LoadedModel& model, int offered) {
  if (model.drafter_rollback == COMMON_CONTEXT_SEQ_RM_TYPE_FULL)
    saved_.load_dft(model.drafter.get(), sequence, flags);
  // Not by the target's last position: a drafter that is asked alone has a target without any.
  const int depth = static_cast<int>(saved_.n_tokens);
  if (model.has_drafter_context() && !forget_from(model.drafter.get(), depth))
    return not_rolled_back("drafter", depth);
  if (offered > 0 && needs_replay(model, offered))
    saved_.update_tgt(model.target.get(), sequence, flags);
  return {};
}

void Checkpoint::save(LoadedModel& model, int depth) {
  mark(model, depth);
  if (!keeps_every_token(model.target_model.get()))
    saved_.update_tgt(model.target.get(), sequence, flags);
}

util::Result<void> Checkpoint::restore(LoadedModel& model) const {
  saved_.load_tgt(model.target.get(), sequence, flags);
  saved_.load_dft(model.drafter.get(), sequence, flags);
  return roll_back(model, saved_.pos_max + 1);
}

}  // namespace paceline::worker
