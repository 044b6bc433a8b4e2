#include "worker/llama/drafters.hpp"

#include <algorithm>

#include "trace/names.hpp"
#include "util/assert.hpp"
#include "util/json.hpp"
#include "worker/llama/decoding.hpp"

namespace paceline::worker {

namespace {

using trace::SpecType;

/// A history in which one token follows itself, so that looking one token up finds it.
const llama_tokens one_token_again(8, 0);

/// A history in which nothing can be found.
const llama_tokens nothing;

tl::unexpected<util::Error> not_set_up() {
  return util::fail(util::ErrorKind::engine,
                    "llama.cpp could not set up the drafter: its log says why.");
}

void ask(common_speculative* library, const llama_tokens& history, int n_max, llama_token last,
         int position, llama_tokens& draft) {
  common_speculative_get_draft_params(library, sequence) = {.drafting = true,
                                                            .n_max = n_max,
                                                            .pos0 = position,
                                                            .id_last = last,
                                                            .prompt = &history,
                                                            .result = &draft};
  common_speculative_draft(library);
}

}  // namespace

common_speculative_type library_type(SpecType type) {
  switch (type) {
    case SpecType::draft_dflash:
      return COMMON_SPECULATIVE_TYPE_DRAFT_DFLASH;
    case SpecType::draft_eagle3:
      return COMMON_SPECULATIVE_TYPE_DRAFT_EAGLE3;
    case SpecType::draft_dspark:
      return COMMON_SPECULATIVE_TYPE_DRAFT_DSPARK;
    case SpecType::draft_mtp:
      return COMMON_SPECULATIVE_TYPE_DRAFT_MTP;
    case SpecType::draft_simple:
      return COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE;
    case SpecType::ngram_simple:
      return COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE;
    case SpecType::ngram_map_k:
      return COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K;
    case SpecType::ngram_map_k4v:
      return COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K4V;
    case SpecType::ngram_mod:
      return COMMON_SPECULATIVE_TYPE_NGRAM_MOD;
    case SpecType::ngram_cache:
      return COMMON_SPECULATIVE_TYPE_NGRAM_CACHE;
    case SpecType::none:
    case SpecType::undeclared:
      break;
  }
  return COMMON_SPECULATIVE_TYPE_NONE;
}

bool Drafters::One::computes_whole_drafts() const {
  return has_model() && type != SpecType::draft_simple;
}

// N-grams are asked without a limit and cut afterwards: llama.cpp would cut what they computed
// before it is counted. draft-simple stops at the room by itself.
void Drafters::One::run(const DraftRequest& request, llama_tokens& draft) {
  ask(library.get(), has_model() ? nothing : request.past, has_model() ? request.room : -1,
      request.last, static_cast<int>(request.past.size()), draft);
}

util::Result<void> Drafters::renew(const trace::Setup& setup,
                                   const common_params_speculative& parameters) {
  all_.clear();  // two at a time would both attach samplers to the drafter's context
  winner_ = 0;
  for (const SpecType type : trace::drafters_of(setup))
    PACELINE_TRY(add(type, parameters, !all_.empty()));
  return {};
}

// llama.cpp tells every drafter what was accepted, whoever drafted it, and refuses to where none
// has drafted yet. A drafter with a model that others are asked before may be told first, so it
// gets one beside it that has drafted once and finds nothing in the empty history it is shown.
util::Result<void> Drafters::add(SpecType type, common_params_speculative parameters,
                                 bool has_others_before) {
  const bool may_be_told_first = has_others_before && !trace::is_ngram(type);
  parameters.types = {library_type(type)};
  if (may_be_told_first) {
    parameters.types.push_back(COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE);
    parameters.ngram_simple.size_n = parameters.ngram_simple.size_m = 1;
  }
  common_speculative_ptr library(common_speculative_init(parameters, 1));
  if (library == nullptr) return not_set_up();
  if (may_be_told_first) {
    llama_tokens draft;
    ask(library.get(), one_token_again, 1, one_token_again.back(), 0, draft);
    if (draft.empty()) return not_set_up();
  }
  all_.push_back({.type = type, .library = std::move(library)});
  return {};
}

void Drafters::begin(const llama_tokens& past) {
  for (One& one : all_) common_speculative_begin(one.library.get(), sequence, past);
}

Drafters::One* Drafters::model_drafter() {
  return all_.empty() || !all_.back().has_model() ? nullptr : &all_.back();
}

bool Drafters::process(const llama_batch& batch) {
  One* const model = model_drafter();
  return model == nullptr || common_speculative_process(model->library.get(), batch);
}

Drafted Drafters::draft(const DraftRequest& request, llama_tokens& draft) {
  Drafted drafted;
  drafted.generated = 0;
  for (std::size_t i = 0; i < all_.size() && draft.empty(); ++i) {
    One& one = all_[i];
    ++drafted.attempts;
    one.run(request, draft);
    if (draft.empty()) {
      if (one.computes_whole_drafts()) drafted.generated.reset();
      continue;
    }
    winner_ = i;
    drafted.drafter = util::enum_name(one.type);
    drafted.generated = one.computes_whole_drafts() ? common_speculative_n_max(one.library.get())
                                                    : static_cast<int>(draft.size());
  }
  if (static_cast<int>(draft.size()) > request.room)
    draft.resize(static_cast<std::size_t>(request.room));
  return drafted;
}

void Drafters::draft_with_model(const DraftRequest& request, llama_tokens& draft) {
  One* const model = model_drafter();
  PACELINE_ASSERT(model != nullptr);
  model->run(request, draft);
}

// Of drafts that are not their own, n-grams take no notice; drafters with a model go on from the
// last accepted token either way.
void Drafters::accept(int accepted) {
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (i == winner_ || all_[i].has_model())
      common_speculative_accept(all_[i].library.get(), sequence,
                                static_cast<std::uint16_t>(accepted));
}

int Drafters::longest() const {
  int longest = 0;
  for (const One& one : all_)
    longest = std::max(longest, common_speculative_n_max(one.library.get()));
  return longest;
}

int Drafters::longest_of_last() const {
  return all_.empty() ? 0 : common_speculative_n_max(all_.back().library.get());
}

}  // namespace paceline::worker
