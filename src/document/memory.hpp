#pragma once

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// What the arms' engines allocated and held, of each arm's first launch that opened; arms that
/// never opened have no entry.
Memory to_memory(const trace::Trace& trace);

}  // namespace paceline::document
