#pragma once

#include "trace/facts.hpp"
#include "worker/llama/gguf_file.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Fills in what the loaded model and its files say about themselves. `drafter` may be null.
void fill_facts(LoadedModel& model, const GgufFile& target, const GgufFile* drafter);

}  // namespace paceline::worker
