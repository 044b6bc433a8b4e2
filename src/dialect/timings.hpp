#pragma once

#include <optional>
#include <string>

#include "dialect/dialect.hpp"
#include "dialect/fields.hpp"

namespace paceline::dialect {

/// How a stated decode rate comes from tokens and time: every server has its own idea.
struct RateRule {
  std::string rule;      ///< a sentence
  bool is_known = true;  ///< false: neither n nor n - 1 over the time gives it
};

/// Recomputes a rate of `per_s` tokens a second from `tokens` in `seconds`; nothing when a rate
/// makes no sense of so few tokens or so little time.
std::optional<RateRule> rate_rule(double per_s, long tokens, double seconds);

/// Reads the `timings` object of llama.cpp's kind into the chunk: running totals from the request's
/// start. Of the last message it also says what the whole request took.
void read_timings(const Fields& timings, const std::string& endpoint, bool last, Message& message);

}  // namespace paceline::dialect
