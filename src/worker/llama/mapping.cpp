#include "worker/llama/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "worker/heartbeat.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/map_text.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/rollback.hpp"

namespace paceline::worker {

namespace {

using trace::Drafting;
using trace::MapKind;

bool drafts_in_blocks(trace::SpecType type) {
  return type == trace::SpecType::draft_dflash || type == trace::SpecType::draft_dspark;
}

/// Of drafts that are beginnings of longer ones the longest for each p-min; of others all.
std::vector<Drafting> needed_asks(const std::vector<Drafting>& asked, MapKind kind) {
  if (kind != MapKind::one_ask) return asked;
  std::map<double, int> longest;
  for (const Drafting& one : asked) longest[one.p_min] = std::max(longest[one.p_min], one.n_max);
  std::vector<Drafting> needed;
  for (const auto& [p_min, n_max] : longest) needed.push_back({n_max, p_min});
  return needed;
}

util::Result<void> check_map(const LoadedModel& model, const protocol::Map& job) {
  if (!model.speculates() || !model.has_drafter_context())
    return refuse("There is no drafter with a model to ask: open one with its target.");
  if (!model.setup.asked_first.empty())
    return refuse(
        "Drafters that are asked one after the other change what the next one sees: map them one "
        "by one.");
  if (job.asks.empty()) return refuse("No draft length was asked for: name at least one.");
  for (const Drafting& asked : job.asks) PACELINE_TRY(model.check_drafting(asked));
  return {};
}

class Mapping {
 public:
  Mapping(LoadedModel& model, const protocol::Map& job, JobPort& port)
      : model_(model),
        job_(job),
        port_(port),
        kind_(drafts_in_blocks(model.setup.spec_type) ? MapKind::each_length : MapKind::one_ask),
        asks_(needed_asks(job.asks, kind_)),
        // It drafts from tokens alone, whatever the target makes of them.
        needs_target_(model.setup.spec_type != trace::SpecType::draft_simple) {}

  util::Result<trace::OutcomeKind> run() {
    for (const protocol::KnownText& text : job_.texts) {
      if (heartbeat_.interrupted()) return trace::OutcomeKind::cancelled;
      const auto read = read_map_text(model_, text, job_.most_tokens);
      if (!read) {
        port_.say(not_mapped(text, kind_, read.error().message));
        continue;
      }
      trace::DraftMap map = map_of(text, *read, kind_);
      map.began_ns = now_ns();
      PACELINE_TRY(ask_along(*read, map));
      if (heartbeat_.cancelled()) return trace::OutcomeKind::cancelled;
      map.ended_ns = now_ns();
      port_.say(std::move(map));
    }
    drafters_.clear();
    PACELINE_TRY(model_.reset());
    return trace::OutcomeKind::done;
  }

 private:
  /// Drafters that carry a row of hidden state have to see every token themselves, so that each of
  /// them goes along the text alone; others share what one of them has put into their context.
  util::Result<void> ask_along(const MapText& text, trace::DraftMap& map) {
    for (const Drafting& asked : asks_) map.asks.push_back({asked, {}, {}, {}});
    const std::size_t at_once = takes_hidden_rows(model_.setup.spec_type) ? 1 : asks_.size();
    for (std::size_t begin = 0; begin < asks_.size() && !heartbeat_.cancelled(); begin += at_once)
      PACELINE_TRY(go_along(text, std::span(map.asks).subspan(begin, at_once)));
    return {};
  }

  util::Result<void> go_along(const MapText& text, std::span<trace::DraftAsk> asks) {
    PACELINE_TRY(begin(text, asks));
    const int last = static_cast<int>(text.tokens.size()) - 1;
    for (int place = 0; place < last; ++place) {
      if (heartbeat_.interrupted(trace::Progress{.tokens = place})) return {};
      for (std::size_t i = 0; i < asks.size(); ++i)
        PACELINE_TRY(ask(*drafters_[i], text.tokens, place, asks[i]));
      const llama_token token = text.tokens[static_cast<std::size_t>(place)];
      PACELINE_TRY(feed({&token, 1}));
    }
    return {};
  }

  /// Fresh drafters behind the prompt.
  util::Result<void> begin(const MapText& text, std::span<const trace::DraftAsk> asks) {
    drafters_.clear();
    PACELINE_TRY(model_.reset());
    past_.clear();
    for (const trace::DraftAsk& one : asks) {
      drafters_.push_back(std::make_unique<Drafters>());
      PACELINE_TRY(drafters_.back()->renew(model_.setup, model_.parameters_for(one.drafting)));
    }
    const std::span prompt(text.prompt);
    const std::size_t piece = llama_n_batch(model_.target.get());
    for (std::size_t at = 0; at < prompt.size() && !heartbeat_.interrupted(); at += piece)
      PACELINE_TRY(feed(prompt.subspan(at, std::min(piece, prompt.size() - at))));
    for (const auto& drafters : drafters_) drafters->begin(past_);
    return {};
  }

  util::Result<void> feed(std::span<const llama_token> tokens) {
    Batch& batch = model_.batch;
    batch.clear();
    for (std::size_t i = 0; i < tokens.size(); ++i)
      batch.add(tokens[i], depth() + batch.size(), i + 1 == tokens.size());
    if (needs_target_) PACELINE_TRY(decode(model_.target.get(), batch));
    if (!drafters_.front()->process(batch.raw()))
      return tl::unexpected(decode_error(-2, batch.size(), depth()));
    past_.insert(past_.end(), tokens.begin(), tokens.end());
    return {};
  }

  util::Result<void> ask(Drafters& drafters, const llama_tokens& text, int place,
                         trace::DraftAsk& ask) {
    llama_tokens draft;
    const int room = std::min(ask.drafting.n_max, model_.facts.n_ctx - depth() - 2);
    if (room > 0) {
      checkpoint_.mark(model_, depth());
      drafters.draft_with_model(
          {.past = past_, .last = text[static_cast<std::size_t>(place)], .room = room}, draft);
      PACELINE_TRY(checkpoint_.protect(model_, 0));
    }
    ask.places.push_back(place);
    ask.offered.push_back(static_cast<int>(draft.size()));
    ask.accepted.push_back(agreeing(draft, text, place));
    return {};
  }

  int depth() const { return static_cast<int>(past_.size()); }

  LoadedModel& model_;
  const protocol::Map& job_;
  JobPort& port_;
  MapKind kind_;
  std::vector<Drafting> asks_;
  bool needs_target_;
  std::vector<std::unique_ptr<Drafters>> drafters_;  ///< of the asks that go along a text together
  llama_tokens past_;                                ///< tokens in the contexts
  Checkpoint checkpoint_;
  Heartbeat heartbeat_{port_};
};

trace::Finished run(LoadedModel& model, const protocol::Map& job, JobPort& port) {
  if (auto checked = check_map(model, job); !checked) return refused(checked.error().message);
  const util::Result<trace::OutcomeKind> ended = Mapping(model, job, port).run();
  if (!ended) return refused(ended.error().message);
  if (*ended == trace::OutcomeKind::cancelled)
    return finished(*ended, "The map was cancelled while it was made.");
  return {};
}

}  // namespace

trace::Finished map_drafts(LoadedModel& model, const protocol::Map& job, JobPort& port) {
  try {
    return run(model, job, port);
  } catch (const std::exception& problem) {
    return refused(fmt::format("llama.cpp gave up on the map: {}.", problem.what()));
  }
}

}  // namespace paceline::worker
