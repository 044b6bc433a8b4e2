#pragma once

#include "model/gguf.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// Refuses a target whose layers llama.cpp does not hand out, on which it would abort, or hands out
/// in a shape that no drafter reads.
util::Result<void> check_hands_out_layers(const model::Gguf& target, const model::Gguf& drafter);

/// Refuses a target of whose last layer llama.cpp does not hand out the result: a drafter would
/// read rubbish.
util::Result<void> check_hands_out_last_rows(const model::Gguf& target, const model::Gguf& drafter);

/// Refuses a file that says it has an MTP block and lacks its tensors, or whose architecture
/// llama.cpp runs no MTP block of. `holder` is the drafter's file, or the target's.
util::Result<void> check_mtp_block(const model::Gguf& holder);

/// Refuses a drafter's file for draft-mtp that was not made for this target: of another
/// architecture, of another width, or whose attention does not fit the target's KV cache.
util::Result<void> check_mtp_file(const model::Gguf& target, const model::Gguf& drafter);

}  // namespace paceline::worker
