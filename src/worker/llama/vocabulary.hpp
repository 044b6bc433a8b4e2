#pragma once

#include "util/result.hpp"
#include "worker/llama/gguf_file.hpp"

namespace paceline::worker {

/// Refuses a draft-simple drafter whose tokens are not the target's, as llama.cpp does when it sets
/// the drafter up, but with the first difference named.
util::Result<void> check_same_tokens(const GgufFile& target, const GgufFile& drafter);

}  // namespace paceline::worker
