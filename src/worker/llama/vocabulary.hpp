#pragma once

#include "model/gguf.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// Refuses a draft-simple drafter whose tokens are not the target's, as llama.cpp does when it sets
/// the drafter up, but with the first difference named.
util::Result<void> check_same_tokens(const model::Gguf& target, const model::Gguf& drafter);

}  // namespace paceline::worker
