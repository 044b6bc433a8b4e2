#pragma once

#include <optional>
#include <string_view>

#include "metrics/summary.hpp"

namespace paceline::metrics {

/// Seconds per pass by phase from the arm's synced requests of a class; the unsynced total is the
/// caller's to fill in. The synced total runs from the first token to the end of the last pass, so
/// that every phase lies inside it. Nothing when no synced request recorded its phases.
std::optional<PhaseSummary> phases_of(const trace::Trace& trace, std::string_view arm,
                                      std::string_view workload_class);

}  // namespace paceline::metrics
