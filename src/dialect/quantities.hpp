#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/server.hpp"

namespace paceline::dialect {

/// Puts down numbers that a server said on one route. What it did not say is left out.
class Sayings {
 public:
  Sayings(std::vector<trace::Said>& into, std::string endpoint)
      : into_(&into), endpoint_(std::move(endpoint)) {}

  template <class Number>
  void add(trace::Quantity quantity, std::optional<Number> value, std::string field,
           std::string rule = {}) {
    if (value)
      into_->push_back({quantity,
                        static_cast<double>(*value),
                        {},
                        endpoint_,
                        std::move(field),
                        std::move(rule)});
  }
  void add_list(trace::Quantity quantity, std::optional<std::vector<double>> values,
                std::string field, std::string rule = {}) {
    if (values)
      into_->push_back(
          {quantity, 0, std::move(*values), endpoint_, std::move(field), std::move(rule)});
  }

 private:
  std::vector<trace::Said>* into_;
  std::string endpoint_;
};

/// What a dialect can be made to say. list() has every quantity once: those that were not named
/// have the reason of all the others.
class AbilityList {
 public:
  explicit AbilityList(std::string reason_of_the_others);
  AbilityList& can(trace::Quantity quantity, std::string source);
  AbilityList& cannot(trace::Quantity quantity, std::string reason);
  std::vector<trace::Ability> list() const { return abilities_; }

 private:
  std::vector<trace::Ability> abilities_;
};

}  // namespace paceline::dialect
