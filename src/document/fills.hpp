#pragma once

#include "document/document.hpp"
#include "metrics/summary.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// Every depth that the context was filled to, with the memory of each arm's first launch there.
std::vector<Fill> to_fills(const trace::Trace& trace, const metrics::Summary& summary);

/// What the engine's processes held once the context was full, of the first launch where it was:
/// filled to nine tenths at least.
Known<std::uint64_t> memory_after_fill(const trace::Trace& trace);

}  // namespace paceline::document
