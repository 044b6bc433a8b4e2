#pragma once

#include <string_view>
#include <vector>

#include "protocol/job.hpp"
#include "study/plan.hpp"
#include "trace/trace.hpp"

namespace paceline::study {

/// What a bare engine of a plain arm has to read again so that texts which differ from that arm's
/// can be judged: plain's text of every such prompt for the margin at each place, and a few of them
/// in passes of each width that said something else. Empty when no text differs.
std::vector<protocol::Reread> plan_rereading(const trace::Trace& trace, const RunOptions& options,
                                             std::string_view plain);

/// Plain's settings with room for the widest pass of those jobs.
trace::Setup rereading_setup(trace::Setup plain, const std::vector<protocol::Reread>& jobs);

}  // namespace paceline::study
