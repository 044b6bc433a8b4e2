#pragma once

#include "trace/request.hpp"

namespace paceline::metrics {

/// Makes passes, emissions, prefill and the tally of a request that a server answered, from its
/// chunks and what was said of it; leaves any other request alone. What a server lets nobody know
/// is left unknown with the reason, and nothing is clamped: counts that cannot be true stay as
/// they were said, for find_contradictions() to name. `declared_plain`: the user says that this
/// server does not speculate.
void normalise(trace::Request& request, bool declared_plain);

}  // namespace paceline::metrics
