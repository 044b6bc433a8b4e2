#include "claim/row.hpp"

#include <fmt/format.h>

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

std::string shown(double value) {
  const double size = std::abs(value);
  if (size >= 1e15) return fmt::format("{:.3g}", value);
  if (size >= 1000 || std::abs(value - std::round(value)) < 1e-9 * size)
    return fmt::format("{:.0f}", value);
  return size >= 1 ? fmt::format("{:.{}f}", value, size < 100 ? 2 : 1)
                   : fmt::format("{:.3g}", value);
}

std::string shown(const Range& range) {
  if (range.value) return shown(*range.value);
  if (std::isinf(range.high)) return "at least " + shown(range.low);
  if (!(range.low > 0)) return "at most " + shown(range.high);
  return shown(range.low) + " to " + shown(range.high);
}

}  // namespace paceline::claim
