#pragma once

#include "document/document.hpp"
#include "trace/trace.hpp"

namespace paceline::document {

/// Whether every launch that opened ran the same engine, version and build.
bool one_build(const trace::Trace& trace);

/// "benchmark" when no fact is missing, "screenshot" without F4, F5 or F12, else "incomplete".
std::string verdict_of(const std::vector<MissingFact>& missing);

/// Which of the facts F1 .. F17 a filled document holds, and the verdict that follows.
Facts to_facts(const Document& document, const trace::Trace& trace);

}  // namespace paceline::document
