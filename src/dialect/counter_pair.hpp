#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "dialect/dialect.hpp"

namespace paceline::dialect {

/// Two readings of a server's counters around one request. Counters belong to the whole server:
/// what they moved by is the request's only if nobody else used it.
class CounterPair {
 public:
  CounterPair(const Counters& before, const Counters& after) : before_(before), after_(after) {}

  /// What a counter moved by; nothing when either reading lacks it.
  std::optional<double> moved_by(std::string_view name) const;

  /// Likewise by position. A list that came up between the readings counts from 0 when the counter
  /// `total` of all positions was 0 before.
  std::optional<std::vector<double>> list_moved_by(std::string_view name,
                                                   std::string_view total) const;

  bool after_has(std::string_view name) const { return after_.values.contains(std::string(name)); }

  struct Signs {
    std::initializer_list<std::string_view> busy;  ///< gauges that are 0 on an idle server
    std::string_view tokens;                       ///< counter of output tokens
  };
  /// Whether the pair says anything of one request of `output_tokens`; else why not is added to
  /// the oddities: a reset, another client, or no movement where some was due.
  bool is_of_one_request(const Signs& signs, std::optional<long> output_tokens,
                         std::vector<std::string>& oddities) const;

 private:
  bool fell(std::vector<std::string>& oddities) const;
  bool was_busy(const Signs& signs, std::vector<std::string>& oddities) const;

  const Counters& before_;
  const Counters& after_;
};

}  // namespace paceline::dialect
