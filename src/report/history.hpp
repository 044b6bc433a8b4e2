#pragma once

#include <string>
#include <vector>

#include "document/difference.hpp"
#include "document/history.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// The studies of a store, a line each.
std::string history(const document::History& history, const Style& style);

/// Requests of a study, a line each.
std::string requests(const std::vector<document::HistoryRequest>& requests, const Style& style);

/// What two studies do not have in common, and their figures side by side.
std::string difference(const document::Difference& difference, const Style& style);

}  // namespace paceline::report
