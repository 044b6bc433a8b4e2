#pragma once

#include <vector>

#include "claim/derive.hpp"

namespace paceline::claim {

/// Pairs of numbers of one row that cannot both be true, whatever their digits stand for.
void find_contradictions(const Worked& row, std::vector<document::ClaimContradiction>& found);

/// What no number contradicts and a reader should know: a slow-down beside a high acceptance, few
/// sure drafts, passes that gain nothing from width, a cached prompt.
void find_remarks(const Worked& row, std::vector<document::ClaimRemark>& remarks);

/// What only several rows show: one acceptance beside two speeds, narrower passes that are slower,
/// a stated ratio that is another row's, different builds, models and windows.
void compare_rows(const std::vector<Worked>& rows, std::vector<document::ClaimContradiction>& found,
                  std::vector<document::ClaimRemark>& remarks);

}  // namespace paceline::claim
