#pragma once

#include <string>

#include "common.h"
#include "llama.h"
#include "protocol/job.hpp"
#include "trace/draft_map.hpp"
#include "util/result.hpp"

namespace paceline::worker {

struct LoadedModel;

/// A known text as token ids, with what came before it.
struct MapText {
  llama_tokens prompt;
  llama_tokens tokens;
  bool ends_itself = false;  ///< the last token is one that ends a text
};

/// By the model's tokenizer and chat template, and cut to its context. The error says why the text
/// cannot be mapped.
util::Result<MapText> read_map_text(LoadedModel& model, const protocol::KnownText& text,
                                    int most_tokens);

/// By a tokenizer alone: of messages the contents, a line each, stand for the prompt.
util::Result<MapText> read_map_text(const llama_vocab* vocabulary, const protocol::KnownText& text,
                                    int most_tokens);

/// By no model's tokenizer but SimpleTokens, likewise.
util::Result<MapText> read_map_text_simply(const protocol::KnownText& text, int most_tokens);

/// The record of a text before anything was asked along it.
trace::DraftMap map_of(const protocol::KnownText& text, const MapText& read, trace::MapKind kind);

/// The record of a text that cannot be mapped.
trace::DraftMap not_mapped(const protocol::KnownText& text, trace::MapKind kind,
                           std::string reason);

/// The first so many tokens of a draft that the text agrees with, behind token `place` of it.
int agreeing(const llama_tokens& draft, const llama_tokens& text, int place);

}  // namespace paceline::worker
