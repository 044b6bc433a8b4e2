#pragma once

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Decodes each known text token by token, and again in passes of each width from the same state
/// behind the prompt, and says in one Rereading how far all finite logits are from those of single
/// tokens, and the margins asked for. Logits are kept for the first places of a text only, as
/// memory allows; whole passes are compared and no part of one.
trace::Finished reread(LoadedModel& model, const protocol::Reread& job, JobPort& port);

}  // namespace paceline::worker
