#pragma once

#include <optional>
#include <string_view>

#include "metrics/summary.hpp"

namespace paceline::metrics {

/// Greedy output of `arm` against that of `plain`, token for token, on the first request of each
/// prompt. Nothing unless every arm of the run was asked for temperature 0, or without a text that
/// both have.
std::optional<Lossless> compare_texts(const trace::Trace& trace, std::string_view arm,
                                      std::string_view plain, std::string_view workload_class);

}  // namespace paceline::metrics
