#pragma once

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// Load of the machine over the requests behind the figures, and the worst of them.
Noise to_noise(const trace::Trace& trace);

}  // namespace paceline::document
