#include "dialect/quantities.hpp"

namespace paceline::dialect {

AbilityList::AbilityList(std::string reason_of_the_others) {
  for (int quantity = 0; quantity < trace::quantities; ++quantity)
    abilities_.push_back({static_cast<trace::Quantity>(quantity), "", reason_of_the_others});
}

AbilityList& AbilityList::can(trace::Quantity quantity, std::string source) {
  abilities_[static_cast<std::size_t>(quantity)] = {quantity, std::move(source), ""};
  return *this;
}

AbilityList& AbilityList::cannot(trace::Quantity quantity, std::string reason) {
  abilities_[static_cast<std::size_t>(quantity)] = {quantity, "", std::move(reason)};
  return *this;
}

}  // namespace paceline::dialect
