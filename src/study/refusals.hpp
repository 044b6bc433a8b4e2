#pragma once

#include <algorithm>

#include "study/plan.hpp"
#include "trace/request.hpp"
#include "workload/prompt.hpp"

namespace paceline::study {

/// How a launch ends whose server takes no images, where prompts carry some.
inline trace::Outcome no_images() {
  return trace::ended(
      trace::OutcomeKind::refused,
      "the server says that it takes no images, and the prompts carry some: give it a projector "
      "(--mmproj FILE with --server-bin), or leave the images out");
}

/// True of a run some of whose prompts carry an image.
inline bool sends_images(const RunOptions& options) {
  const auto& prompts = options.prompts.measured;
  return options.pictures || std::any_of(prompts.begin(), prompts.end(), workload::has_images);
}

/// A request that was not made, as there is no text for it to follow.
inline trace::Request without_text() {
  trace::Request request;
  request.outcome = trace::ended(trace::OutcomeKind::refused,
                                 "plain gave no text of this prompt that could be followed");
  return request;
}

}  // namespace paceline::study
