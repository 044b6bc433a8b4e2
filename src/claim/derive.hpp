#pragma once

#include <map>
#include <string>
#include <vector>

#include "claim/row.hpp"

namespace paceline::claim {

/// A row with all that follows from it.
struct Worked {
  Row row;
  std::map<Figure, Range> known;  ///< given and derived
  std::vector<document::DerivedFigure> derived;
  std::vector<document::NotDerived> not_derived;

  bool has(Figure figure) const { return known.contains(figure); }
  const Range& at(Figure figure) const { return known.at(figure); }
  const Stated* stated(Figure figure) const { return row.find(figure); }
};

/// True when the acceptance of a row may be read as accepted over offered draft tokens.
bool is_share_of_drafts(const Row& row);

/// All that follows from one row, by the formulas of DEFINITIONS 2, 4 and 8, each with its rule;
/// bounds where only bounds follow. What is given is never overwritten, and what would contradict
/// it is left to `contradictions`.
Worked derive(Row row);

/// As in a document.
document::DerivedFigure to_derived(Figure figure, const Range& range, std::string rule,
                                   const std::vector<Figure>& from);

}  // namespace paceline::claim
