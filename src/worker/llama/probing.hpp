#pragma once

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Times passes of each width at one depth, on random ordinary tokens. Every width is measured
/// from the same state; the order of widths rotates from repeat to repeat, and an untimed pass of
/// the same width comes before each timed one. draft_ns is filled for the widths that a draft of
/// the drafter's model fills: those of every length where it stops when it is told to, else only
/// that of its longest. Drafts from n-grams are not timed.
trace::Finished probe(LoadedModel& model, const protocol::Probe& job, JobPort& port);

}  // namespace paceline::worker
