#pragma once

#include <initializer_list>
#include <string_view>

#include "dialect/dialect.hpp"

namespace paceline::dialect {

/// Reads the text format of Prometheus, hostile text included, and keeps the metrics of exactly
/// these names: each is summed over its labels, but for one with a label "position" or
/// "token_position", which is kept apart by position and never added to a total. Lines that are no
/// sample, and values of a wanted metric that no counter can have, are oddities. A body that is one
/// JSON string is unescaped once. The error says that it is another format altogether.
util::Result<Counters> read_prometheus(std::string_view text,
                                       std::initializer_list<std::string_view> names);

/// The value of a counter in a reading; nothing when it is not there.
std::optional<double> counter(const Counters& counters, std::string_view name);

}  // namespace paceline::dialect
