#pragma once

#include "model/gguf.hpp"
#include "util/result.hpp"

namespace paceline::worker {

/// Refuses what llama.cpp would abort on or load as something it is not, target or drafter: types
/// that it does not know, counts that no model has or that do not fit one another, a split model of
/// which files are missing.
util::Result<void> check_loadable(const model::Gguf& file);

/// The same for a target, which a file that only drafts for another model cannot be.
util::Result<void> check_target(const model::Gguf& file);

}  // namespace paceline::worker
