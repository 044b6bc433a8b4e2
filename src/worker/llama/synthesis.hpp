#pragma once

#include "protocol/job.hpp"
#include "util/result.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

/// Writes the copy that protocol::Synth describes; the same job gives the same bytes on
/// every platform. The destination appears only when it is complete.
util::Result<void> synthesize(const protocol::Synth& job, JobPort& port);

}  // namespace paceline::worker
