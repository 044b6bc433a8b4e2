#pragma once

#include "document/document.hpp"
#include "machine/machine.hpp"
#include "metrics/summary.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// The whole report of one run. Everything in it is from the arguments; `said` is left absent.
/// `mix` is the mix that `summary` was made with.
Document assemble(const trace::Trace& trace, const metrics::Summary& summary, const trace::Mix& mix,
                  const machine::MachineFacts& machine);

}  // namespace paceline::document
