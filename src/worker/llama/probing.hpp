#pragma once

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Times passes of each width at one depth, on random ordinary tokens. Every width is measured
/// from the same state; the order of widths rotates from repeat to repeat, and an untimed pass of
/// the same width comes before each timed one. A drafter always computes its longest draft, so
/// draft_ns is filled only for the width that such a draft fills (longest draft + 1).
trace::Finished probe(LoadedModel& model, const protocol::Probe& job, JobPort& port);

}  // namespace paceline::worker
