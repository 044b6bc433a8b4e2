#include "worker/llama/loaded_model.hpp"

#include <cstdlib>
#include <vector>

#include "worker/llama/checks.hpp"
#include "worker/llama/ngram.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

/// One token with a row of zeros for the hidden state before it, behind the one that the target has
/// seen: a drafter may share the target's cache.
int decode_with_hidden_row(llama_context* context) {
  const auto width = static_cast<std::size_t>(llama_model_n_embd_out(llama_get_model(context)));
  std::vector<float> row(width, 0.0f);
  llama_token token = 0;
  llama_pos position = 1;
  std::int32_t sequences = 1;
  llama_seq_id id = sequence;
  llama_seq_id* ids = &id;
  std::int8_t logits = 1;
  return llama_decode(context, {.n_tokens = 1,
                                .token = &token,
                                .embd = row.data(),
                                .pos = &position,
                                .n_seq_id = &sequences,
                                .seq_id = &ids,
                                .logits = &logits});
}

void forget_everything(llama_context* context) {
  llama_memory_clear(llama_get_memory(context), true);
}

}  // namespace

bool takes_hidden_rows(trace::SpecType type) {
  return type == trace::SpecType::draft_mtp || type == trace::SpecType::draft_eagle3;
}

LoadedModel::LoadedModel() : batch(batch_tokens) {}

util::Result<void> LoadedModel::reset(DrafterState state,
                                      const std::optional<trace::Drafting>& drafting) {
  fill = {};
  forget_everything(target.get());
  if (has_drafter_context()) forget_everything(drafter.get());
  if (!speculates() || state == DrafterState::kept) return {};
  return renew_drafters(drafting);
}

common_params_speculative LoadedModel::parameters_for(
    const std::optional<trace::Drafting>& drafting) const {
  common_params_speculative parameters = speculative;
  if (!drafting) return parameters;
  parameters.draft.n_max = drafting->n_max;
  parameters.draft.p_min = static_cast<float>(drafting->p_min);
  if (facts.ngram)
    set_sizes(setup.spec_type, with_longest(*facts.ngram, drafting->n_max), parameters);
  return parameters;
}

util::Result<void> LoadedModel::check_drafting(const trace::Drafting& drafting) const {
  const int longest = facts.draft_n_max.value_or(0);
  if (drafting.n_max < 1 || drafting.n_max > longest)
    return refuse("Drafts of {} tokens cannot be asked for: this engine was opened for 1 to {}.",
                  drafting.n_max, longest);
  if (!(drafting.p_min >= 0 && drafting.p_min <= 1))
    return refuse("A draft cannot end below a probability of {}: p-min goes from 0 to 1.",
                  drafting.p_min);
  if (!facts.ngram) return {};
  PACELINE_TRY(effective_sizes(setup.spec_type, with_longest(*facts.ngram, drafting.n_max)));
  return {};
}

// Fresh drafters: some carry a hidden row from the last request into the next.
util::Result<void> LoadedModel::renew_drafters(const std::optional<trace::Drafting>& drafting) {
  PACELINE_TRY(drafters.renew(setup, parameters_for(drafting)));
  return has_drafter_context() ? prime() : util::Result<void>{};
}

// New drafters make both contexts reserve their graphs in the next decode call, which would be
// the prefill that is timed. Tokens that are forgotten at once pay for it instead.
util::Result<void> LoadedModel::prime() {
  batch.clear();
  batch.add(0, 0, true);
  PACELINE_TRY(decode(target.get(), batch));
  const int code = takes_hidden_rows(setup.spec_type) ? decode_with_hidden_row(drafter.get())
                                                      : llama_decode(drafter.get(), batch.raw());
  if (code != 0) return tl::unexpected(decode_error(code, 1, 0));
  llama_synchronize(target.get());
  llama_synchronize(drafter.get());
  forget_everything(target.get());
  forget_everything(drafter.get());
  return {};
}

}  // namespace paceline::worker
