#pragma once

#include <optional>
#include <string_view>

#include "claim/figure.hpp"
#include "claim/range.hpp"

namespace paceline::claim {

/// Reads a whole text as a figure: "84.64 tok/s", "38.67 %", "~4", "6.5-6.8", "6.5..6.8",
/// "84.64 +- 0.5", "+79 %" and "4.50x" of a ratio of speeds, "273 GB/s", "13.5 GB", "7.6 ms".
/// Nothing when it is no such figure.
std::optional<Range> parse_figure(std::string_view text, Figure figure);

/// Likewise with a unit that stands elsewhere, as in the head of a column; empty: none.
std::optional<Range> parse_figure(std::string_view text, Figure figure, std::string_view unit);

}  // namespace paceline::claim
