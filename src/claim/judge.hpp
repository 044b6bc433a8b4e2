#pragma once

#include "claim/row.hpp"

namespace paceline::claim {

/// Derives what follows from all rows, finds what contradicts and what is missing, and gives the
/// verdict of DEFINITIONS 11. Leaves tool and date empty.
document::Claim judge(Sheet sheet);

}  // namespace paceline::claim
