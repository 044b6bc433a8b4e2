#pragma once

#include <string>
#include <vector>

#include "metrics/summary.hpp"

namespace paceline::metrics {

/// Counts of a run that can't all be true, a sentence each with arm, class and prompt. Warm-up is
/// left out; failed requests are failures, not contradictions.
std::vector<std::string> find_contradictions(const trace::Trace& trace);

/// Says that an arm's phases take longer than the passes they are parts of; empty when not.
std::string find_phase_contradiction(const std::string& arm, const ClassSummary& summary);

}  // namespace paceline::metrics
