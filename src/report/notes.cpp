#include "report/notes.hpp"

#include <algorithm>

namespace paceline::report {

std::string Notes::mark(const std::string& reason) {
  const auto found = std::find(reasons_.begin(), reasons_.end(), reason);
  const auto number = found - reasons_.begin() + 1;
  if (found == reasons_.end()) reasons_.push_back(reason);
  return "(" + std::to_string(number) + ")";
}

}  // namespace paceline::report
