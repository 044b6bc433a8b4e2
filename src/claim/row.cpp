#include "claim/row.hpp"

#include <algorithm>
#include <cmath>

namespace paceline::claim {

const Stated* Row::find(Figure figure) const {
  const auto found = std::find_if(stated.begin(), stated.end(),
                                  [figure](const Stated& one) { return one.figure == figure; });
  return found == stated.end() ? nullptr : &*found;
}

void Row::add(Stated one) {
  if (find(one.figure) == nullptr) stated.push_back(std::move(one));
}

std::string shown(double value) { return document::figure_text(value, std::nullopt, std::nullopt); }

std::string shown(const Range& range) {
  return document::figure_text(range.value, range.low,
                               std::isinf(range.high) ? std::nullopt : std::optional(range.high));
}

}  // namespace paceline::claim
