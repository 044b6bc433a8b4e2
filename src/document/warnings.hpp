#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// What a reader of a filled document must know before quoting it, each with a next step.
std::vector<Warning> to_warnings(const Document& document, const trace::Trace& trace,
                                 const std::vector<std::string>& contradictions);

/// That `what` is of several sessions, and what had changed between them.
std::string describe_resumption(const std::string& what, const trace::Resumption& resumption);

}  // namespace paceline::document
