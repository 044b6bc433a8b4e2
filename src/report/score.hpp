#pragma once

#include <string>

#include "document/score.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// Scores by arm, task and depth as text for a terminal, each beside what chance gives.
std::string score(const document::Score& score, const Style& style);

}  // namespace paceline::report
