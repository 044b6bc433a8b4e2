#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// What a reader of a filled document must know before quoting it, each with a next step.
std::vector<Warning> to_warnings(const Document& document, const trace::Trace& trace,
                                 const std::vector<std::string>& contradictions);

}  // namespace paceline::document
