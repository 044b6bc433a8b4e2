#pragma once

#include <string>
#include <string_view>

#include "claim/row.hpp"

namespace paceline::claim {

/// Finds the outputs of known tools in any text, hostile text included: lines of logs, tables,
/// objects and dumps of counters. What is none of these is skipped and counted. Takes time in
/// proportion to the text, and keeps at most `most_rows` rows of it.
Sheet read_text(std::string_view text, const std::string& name);

inline constexpr std::size_t most_rows = 2000;

}  // namespace paceline::claim
