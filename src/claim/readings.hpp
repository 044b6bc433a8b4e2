#pragma once

#include <vector>

#include "claim/derive.hpp"

namespace paceline::claim {

/// The meanings that the acceptance of each row can have, where its source defines none: accepted
/// over offered with full drafts, a share of the output, with the target's own token counted in, a
/// length, a percentage; and of a length that says it leaves the target's own out. Each row's with
/// the tokens per pass that would follow and whether that can be; over all rows of a group the
/// meaning that keeps passes most alike is named as evidence.
void find_readings(std::vector<Worked>& rows,
                   std::vector<std::vector<document::ClaimReading>>& readings);

}  // namespace paceline::claim
