#pragma once

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Decodes each text token by token and asks the drafter at every place of it, which forgets its
/// draft again; one DraftMap a text. Nothing is sampled. Lengths of a block drafter are asked for
/// one by one: its blocks are not causal, so that a short draft is not the beginning of a long one.
trace::Finished map_drafts(LoadedModel& model, const protocol::Map& job, JobPort& port);

}  // namespace paceline::worker
