#pragma once

#include "llama.h"
#include "model/gguf.hpp"
#include "trace/facts.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Where a model that was just loaded, and its context, were placed.
trace::Placement placement_of(const llama_model* model);

/// What the library says it allocated for a model, its drafter and both contexts, now.
trace::MemoryFacts memory_of(const LoadedModel& model);

/// Fills in what the loaded model and its files say about themselves. `drafter` may be null.
void fill_facts(LoadedModel& model, const model::Gguf& target, const model::Gguf* drafter);

}  // namespace paceline::worker
