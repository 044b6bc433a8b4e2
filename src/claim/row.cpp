#include "claim/row.hpp"

#include <algorithm>

namespace paceline::claim {

const Stated* Row::find(Figure figure) const {
  const auto found = std::find_if(stated.begin(), stated.end(),
                                  [figure](const Stated& one) { return one.figure == figure; });
  return found == stated.end() ? nullptr : &*found;
}

void Row::add(Stated one) {
  if (find(one.figure) == nullptr) stated.push_back(std::move(one));
}

const std::string& context_of(const Row& row, const char* name) {
  static const std::string nothing;
  const auto found = row.context.find(name);
  return found == row.context.end() ? nothing : found->second;
}

bool is_percent(const Stated& stated) { return stated.text.find('%') != std::string::npos; }

bool is_plain(const Row& row) { return context_of(row, "arm") == "plain"; }

std::string shown(double value) { return document::figure_text(value, std::nullopt, std::nullopt); }

std::string shown(const Range& range) {
  return document::figure_text(range.value, range.low, finite(range.high));
}

}  // namespace paceline::claim
