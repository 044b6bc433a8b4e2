#pragma once

#include <span>

#include "common.h"
#include "protocol/job.hpp"
#include "trace/request.hpp"
#include "util/result.hpp"
#include "worker/job_port.hpp"
#include "worker/llama/rollback.hpp"

namespace paceline::worker {

enum class DrafterState;
struct LoadedModel;

/// Text that stays in both contexts below what is asked for on top of it.
struct ContextFill {
  llama_tokens tokens;
  Checkpoint before_last;  ///< the state one token before its end

  /// Back to its end from wherever a request ended. The last token is decoded again: a drafter may
  /// carry its row of hidden state over to the next pass, outside of what a context can save.
  util::Result<void> return_to(LoadedModel& model, DrafterState state) const;
};

/// Decodes tokens from `position` on, at most a batch of them, into both contexts and waits for it;
/// how long the drafter took.
util::Result<trace::Nanoseconds> read_on(LoadedModel& model, std::span<const llama_token> tokens,
                                         int position);

/// Runs the job, which leaves the model's fill at the depth asked for; after a failure it is empty.
trace::Finished fill_context(LoadedModel& model, const protocol::Fill& job, JobPort& port);

}  // namespace paceline::worker
