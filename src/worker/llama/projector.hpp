#pragma once

#include <memory>

#include "model/gguf.hpp"
#include "util/result.hpp"

struct mtmd_context;

namespace paceline::worker {

struct LoadedModel;

struct ProjectorDeleter {
  void operator()(mtmd_context* projector) const;
};
using ProjectorPtr = std::unique_ptr<mtmd_context, ProjectorDeleter>;

/// Refuses a file that is no vision projector; and every file, with what to do, when this program
/// was built without llama.cpp's libmtmd.
util::Result<void> check_projector(const model::Gguf& file);

/// Loads the projector of the model's setup beside its target, which has to be loaded, lets one
/// image prompt pass through both, and puts what was seen into the model's facts. The model has to
/// be reset afterwards.
util::Result<void> load_projector(LoadedModel& model, const model::Gguf& file);

}  // namespace paceline::worker
