#pragma once

#include "document/document.hpp"
#include "metrics/steadiness.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// Load of the machine over the requests behind the figures, the worst of them, who else was busy,
/// and how steady the machine was.
Noise to_noise(const trace::Trace& trace, const metrics::Steadiness& steadiness);

}  // namespace paceline::document
