#include "worker/llama/ngram_mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "llama-cpp.h"
#include "worker/heartbeat.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/map_text.hpp"
#include "worker/llama/ngram.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/runtime.hpp"

namespace paceline::worker {

namespace {

/// The sizes of the lengths that were asked for and can draft, with those lengths.
std::vector<std::pair<int, trace::NgramSizes>> sizes_of(const protocol::Map& job) {
  std::set<int> lengths;
  for (const trace::Drafting& asked : job.asks) lengths.insert(asked.n_max);
  if (job.setup.spec_type == trace::SpecType::ngram_cache) lengths = {trace::ngram_cache_draft};
  std::vector<std::pair<int, trace::NgramSizes>> all;
  for (const int length : lengths) {
    trace::NgramSizes asked = job.setup.ngram;
    if (job.setup.spec_type != trace::SpecType::ngram_cache) asked.size_m = length;
    if (const auto sizes = effective_sizes(job.setup.spec_type, asked))
      all.emplace_back(length, *sizes);
  }
  return all;
}

class NgramMapping {
 public:
  NgramMapping(LoadedModel* model, const protocol::Map& job, JobPort& port)
      : model_(model), job_(job), port_(port) {
    // One type each, the last one: what else a setup asks for drafts nothing here.
    setup_.spec_type = job.setup.spec_type;
  }

  util::Result<trace::OutcomeKind> run() {
    PACELINE_TRY(open_vocabulary());
    const auto lengths = sizes_of(job_);
    if (lengths.empty())
      return refuse("None of the lengths asked for can be drafted with these sizes.");
    for (const protocol::KnownText& text : job_.texts) {
      if (heartbeat_.interrupted()) return trace::OutcomeKind::cancelled;
      const auto read = read_text(text);
      if (!read) {
        port_.say(not_mapped(text, trace::MapKind::walked, read.error().message));
        continue;
      }
      trace::DraftMap map = map_of(text, *read, trace::MapKind::walked);
      map.began_ns = now_ns();
      for (const auto& [length, sizes] : lengths) {
        map.asks.push_back({{length, 0}, {}, {}, {}});
        PACELINE_TRY(walk(*read, sizes, map.asks.back()));
      }
      map.ended_ns = now_ns();
      port_.say(std::move(map));
    }
    return trace::OutcomeKind::done;
  }

 private:
  util::Result<void> open_vocabulary() {
    if (model_ != nullptr || job_.vocabulary.empty()) return {};
    PACELINE_TRY(start_runtime());
    llama_model_params parameters = llama_model_default_params();
    parameters.vocab_only = true;
    vocabulary_.reset(llama_model_load_from_file(job_.vocabulary.c_str(), parameters));
    if (vocabulary_ == nullptr)
      return refuse("llama.cpp could not read the vocabulary of '{}': {}", job_.vocabulary,
                    library_reason());
    return {};
  }

  util::Result<MapText> read_text(const protocol::KnownText& text) {
    if (model_ != nullptr) return read_map_text(*model_, text, job_.most_tokens);
    if (vocabulary_ == nullptr) return read_map_text_simply(text, job_.most_tokens);
    return read_map_text(llama_model_get_vocab(vocabulary_.get()), text, job_.most_tokens);
  }

  /// As DecodeWindow does it, with a target that always says the text.
  util::Result<void> walk(const MapText& text, const trace::NgramSizes& sizes,
                          trace::DraftAsk& ask) {
    common_params_speculative parameters;
    set_sizes(setup_.spec_type, sizes, parameters);
    Drafters drafters;
    PACELINE_TRY(drafters.renew(setup_, parameters));
    llama_tokens past = text.prompt;
    drafters.begin(past);
    const int last = static_cast<int>(text.tokens.size()) - 1;
    for (int place = 0; place < last && !heartbeat_.interrupted();) {
      llama_tokens draft;
      if (const int room = room_at(text, place); room > 0) {
        drafters.draft(
            {.past = past, .last = text.tokens[static_cast<std::size_t>(place)], .room = room},
            draft);
        ask.places.push_back(place);
        ask.offered.push_back(static_cast<int>(draft.size()));
        ask.accepted.push_back(agreeing(draft, text.tokens, place));
      }
      const int agreed = draft.empty() ? 0 : ask.accepted.back();
      const int more = job_.replays && std::cmp_less(agreed, draft.size()) ? 1 : 0;
      if (!draft.empty()) drafters.accept(agreed + more);
      const int next = std::min(last, place + agreed + more + 1);
      past.insert(past.end(), text.tokens.begin() + place, text.tokens.begin() + next);
      place = next;
    }
    return {};
  }

  /// Most tokens to offer behind token `place`: what the output cap and the context leave.
  int room_at(const MapText& text, int place) const {
    const int cap = job_.n_predict > 0 ? job_.n_predict : static_cast<int>(text.tokens.size());
    const int depth = static_cast<int>(text.prompt.size()) + place;
    const int context = job_.n_ctx > 0 ? job_.n_ctx - depth - 2 : std::numeric_limits<int>::max();
    return std::min(context, cap - place - 2);
  }

  LoadedModel* model_;
  const protocol::Map& job_;
  JobPort& port_;
  trace::Setup setup_;
  llama_model_ptr vocabulary_;
  Heartbeat heartbeat_{port_};
};

trace::Finished run(LoadedModel* model, const protocol::Map& job, JobPort& port) {
  if (!job.setup.asked_first.empty())
    return refused(
        "Drafters that are asked one after the other change what the next one sees: map them one "
        "by one.");
  const util::Result<trace::OutcomeKind> ended = NgramMapping(model, job, port).run();
  if (!ended) return refused(ended.error().message);
  if (*ended == trace::OutcomeKind::cancelled)
    return finished(*ended, "The map was cancelled while it was made.");
  return {};
}

}  // namespace

trace::Finished map_ngrams(LoadedModel* model, const protocol::Map& job, JobPort& port) {
  try {
    return run(model, job, port);
  } catch (const std::exception& problem) {
    return refused(fmt::format("llama.cpp gave up on the map: {}.", problem.what()));
  }
}

}  // namespace paceline::worker
