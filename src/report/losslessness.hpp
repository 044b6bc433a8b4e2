#pragma once

#include <string>

#include "document/document.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// The verdict on every arm's greedy texts by class, with counts, and where those that differ do so
/// first; empty where no text was held against plain's.
std::string lossless_table(const document::Document& document, const Style& style);

}  // namespace paceline::report
