#pragma once

#include <string_view>

#include "claim/row.hpp"
#include "util/result.hpp"

namespace paceline::claim {

/// Reads "base=17.98,spec=84.64,accept=38.67%,k=15,full=yes": one row. Figures have the names of
/// figure_of; facts in words have those of context_names. A comma that no "name=" follows belongs
/// to the value before it. `number` counts the rows from 1.
util::Result<Row> parse_given(std::string_view text, int number);

/// Names of facts in words: "build", "quant", "drafter" and so on.
const std::vector<std::string>& context_names();

}  // namespace paceline::claim
