#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dialect/dialect.hpp"
#include "dialect/fields.hpp"
#include "dialect/quantities.hpp"

namespace paceline::dialect {

/// Names and meanings of one server's statistics of speculation in one request. A null name: it
/// does not say that.
struct SpeculationNames {
  const char* passes = nullptr;          ///< passes with a draft
  const char* accepted = nullptr;        ///< draft tokens accepted
  const char* offered = nullptr;         ///< draft tokens really put into verify batches
  const char* n_max = nullptr;           ///< longest draft
  const char* length = nullptr;          ///< mean acceptance length
  const char* rate = nullptr;            ///< acceptance rate
  const char* histogram = nullptr;       ///< passes by accepted tokens, from 0
  const char* by_length = nullptr;       ///< such histograms by the length of the draft
  const char* steps_accepted = nullptr;  ///< accepted tokens of each pass
  const char* steps_drafted = nullptr;   ///< offered tokens of each pass
  std::string length_rule;
  std::string rate_rule;
  std::string offered_rule;
};

/// Reads them. Sums of the histogram stand in for counts that are missing, and must agree with
/// those that are there.
void read_speculation(const Fields& stats, const SpeculationNames& names, Sayings& say,
                      Message& message);

}  // namespace paceline::dialect
