#pragma once

#include "protocol/job.hpp"
#include "util/result.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

/// Writes the model of random weights that the job describes, in bounded memory; the same job gives
/// the same bytes. The destination appears only when it is complete, and is not there before.
util::Result<void> invent(const protocol::Invent& job, JobPort& port);

}  // namespace paceline::worker
