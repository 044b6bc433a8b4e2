#pragma once

#include <string>

#include "document/tune.hpp"
#include "report/terminal.hpp"

namespace paceline::report {

/// What maps of texts predict, for a terminal: a table a class, the mix, what was confirmed, and
/// what it took.
std::string tune(const document::Tune& tune, const Style& style);

}  // namespace paceline::report
