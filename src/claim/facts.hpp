#pragma once

#include <vector>

#include "claim/derive.hpp"

namespace paceline::claim {

/// Which of the facts F1 .. F17 the rows hold; the missing ones in the order in which they would
/// change the conclusion: those that decide the verdict first, then by how far each has moved a
/// speed in a published case.
document::ClaimFacts find_facts(const std::vector<Worked>& rows);

}  // namespace paceline::claim
