#pragma once

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

struct LoadedModel;

/// Walks along each text with an n-gram drafter of each length, telling it what was accepted as a
/// request does, for what it drafts depends on that; of ngram-simple whether it drafts at all
/// depends on the length. One DraftMap a text. Lengths at which it never drafts are left out, and
/// ngram-cache has one only. Texts are read by the open model, or `vocabulary`, or simply.
trace::Finished map_ngrams(LoadedModel* model, const protocol::Map& job, JobPort& port);

}  // namespace paceline::worker
