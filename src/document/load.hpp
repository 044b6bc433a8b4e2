#pragma once

#include "document/document.hpp"
#include "metrics/load.hpp"

namespace paceline::document {

/// Fills in loads, their crossovers and what the concurrency of the figures is.
void fill_loads(Document& document, const metrics::LoadResults& loads);

}  // namespace paceline::document
