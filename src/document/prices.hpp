#pragma once

#include <string>

#include "document/known.hpp"

namespace paceline::document {

/// What a default of the sampler costs that nobody asked for: an arm without it over the same arm
/// with it, above 1 where it costs; `workload_class` has the key "class".
struct DefaultPrice {
  std::string workload_class;
  std::string arm;
  std::string without;  ///< the arm that leaves it out
  std::string parameter;
  double parameter_value = 0;  ///< in force in `arm`
  Quantity tokens_per_s;       ///< the product of the other two
  Quantity passes_per_s;
  Quantity tokens_per_pass;
};

}  // namespace paceline::document
