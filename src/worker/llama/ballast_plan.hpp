#pragma once

#include <vector>

#include "gguf.h"
#include "model/gguf.hpp"
#include "protocol/job.hpp"
#include "util/result.hpp"
#include "worker/llama/ballast.hpp"

namespace paceline::worker {

/// How a model is made as heavy as the job asks, or why it cannot be without another text. Where
/// only a size is asked for, so many layers are added as come nearest to it.
util::Result<Ballast> plan_ballast(const protocol::Synth& job, const model::Gguf& file,
                                   const std::vector<SourceTensor>& tensors);

/// Puts the numbers of the heavier copy over those of the source: blocks, feed-forward, and what
/// is said of each layer.
void set_heavier_keys(const model::Gguf& file, const Ballast& ballast, gguf_context* gguf);

}  // namespace paceline::worker
