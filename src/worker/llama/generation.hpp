#pragma once

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Generates from one prompt in the order of work of llama-server, on state reset before it. Says
/// Progress while it runs and everything else after the timed window, except Finished, which is
/// returned for the caller to send.
trace::Finished generate(LoadedModel& model, const protocol::Generate& job, JobPort& port);

}  // namespace paceline::worker
