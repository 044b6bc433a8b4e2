#pragma once

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// The vision projector of a run and its image prompts; not known when no launch loaded one.
Known<Projector> to_projector(const trace::Trace& trace);

}  // namespace paceline::document
