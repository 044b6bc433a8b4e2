#pragma once

#include "util/result.hpp"
#include "worker/llama/gguf_file.hpp"

namespace paceline::worker {

/// Refuses what llama.cpp would abort on or load as something it is not, target or drafter: types
/// that it does not know, counts that no model has or that do not fit one another, a split model of
/// which files are missing.
util::Result<void> check_loadable(const GgufFile& file);

/// The same for a target, which a file that only drafts for another model cannot be.
util::Result<void> check_target(const GgufFile& file);

}  // namespace paceline::worker
