#pragma once

#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "study/run.hpp"
#include "trace/journal.hpp"
#include "trace/trace.hpp"

namespace paceline::study {

/// How texts are mapped: which drafters are asked what, and what is timed for it.
struct MapOptions {
  std::vector<trace::Arm> arms;            ///< plain, where there is one, then one a drafter, whose
                                           ///< draft_n_max is the longest that is asked for
  std::vector<protocol::KnownText> texts;  ///< without token ids or text: plain writes them first
  std::vector<std::string> families;       ///< of the texts, in their order
  std::vector<double> p_mins = {0};
  int longest = 16;         ///< longest draft asked for, as far as a drafter has one
  int n_predict = 0;        ///< output cap in tokens; 0: each text's own length
  int rounds = 0;           ///< launches of every arm that passes are timed in; 0: nothing is timed
  int timed_per_class = 1;  ///< texts of each class that passes are timed along, others each round
  int timed_tokens = 64;    ///< of each of those; n-grams need all, for what they learn on the way
  int most_tokens = 0;      ///< of a text, read from its beginning; 0: all
  std::string vocabulary;   ///< of n-grams without a plain arm: model file whose tokenizer is taken
  std::uint64_t seed = 1;
  int patience_s = 600;
};

/// Maps the texts and times passes for it into `trace`, whose header is filled already, taking down
/// each record as it comes. Launches that it has, as it goes on, are not made again. The engine of
/// an n-gram drafter without a plain arm loads nothing. A launch that fails is a record and the
/// rest goes on; an error means that the journal failed.
util::Result<void> map_texts(const MapOptions& options, const engine::EngineFactory& make_engine,
                             trace::Journal& journal, const Watcher& watcher,
                             const StopAsked& stop_asked, trace::Trace& trace);

}  // namespace paceline::study
