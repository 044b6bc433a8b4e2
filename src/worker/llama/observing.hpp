#pragma once

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

/// Loads the model of the job with a watch on its graphs, decodes the text in passes of the widths,
/// generates behind it where there is a drafter, and says one Observation.
trace::Finished observe(const protocol::Observe& job, JobPort& port);

}  // namespace paceline::worker
