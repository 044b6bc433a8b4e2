#pragma once

#include <vector>

#include "claim/derive.hpp"

namespace paceline::claim {

/// Puts the pat_decode of every arm whose rows have shares of a mix into the claim (DEFINITIONS 7),
/// why there is none into those of its rows that it fails by, and what contradicts it. Rows are in
/// the order of the claim's.
void find_mixes(const std::vector<Worked>& rows, document::Claim& claim);

}  // namespace paceline::claim
