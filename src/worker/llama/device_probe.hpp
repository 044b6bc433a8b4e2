#pragma once

#include "protocol/job.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

/// Times copies and reads on each of ggml's devices and says a trace::DeviceSpeeds. A device that
/// cannot be measured is in it with the reason.
trace::Finished probe_devices(const protocol::ProbeDevices& job, JobPort& port);

}  // namespace paceline::worker
