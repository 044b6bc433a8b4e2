#include "dialect/timings.hpp"

#include <algorithm>
#include <cmath>

#include "dialect/quantities.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

// Servers print rates with three or more digits.
constexpr double rounding = 1e-3;

std::optional<double> seconds(std::optional<double> milliseconds) {
  return milliseconds ? std::optional(*milliseconds / 1000) : std::nullopt;
}

void say_rate(const Fields& timings, Sayings& say, Message& message) {
  const auto rate = timings.amount("predicted_per_second");
  const auto tokens = message.chunk.output_tokens;
  const auto ms = message.chunk.decode_ms;
  if (!rate || !tokens || !ms) return;
  const auto rule = rate_rule(*rate, *tokens, *ms / 1000);
  if (!rule) return;
  if (!rule->is_known)
    add_oddity(message.oddities, timings.path("predicted_per_second") + " is " + rule->rule);
  say.add(Quantity::tokens_per_s, rate, timings.path("predicted_per_second"), rule->rule);
}

void say_all(const Fields& timings, const std::string& endpoint, Message& message) {
  Sayings say(message.said, endpoint);
  const trace::Chunk& chunk = message.chunk;
  say.add(Quantity::output_tokens, chunk.output_tokens, timings.path("predicted_n"));
  say.add(Quantity::prompt_cached, timings.count("cache_n"), timings.path("cache_n"));
  say.add(Quantity::prompt_processed, timings.count("prompt_n"), timings.path("prompt_n"));
  say.add(Quantity::prefill_s, seconds(timings.amount("prompt_ms")), timings.path("prompt_ms"),
          "milliseconds up to the first token");
  say.add(Quantity::decode_s, seconds(chunk.decode_ms), timings.path("predicted_ms"),
          "milliseconds from the first token");
  say.add(Quantity::offered, chunk.offered, timings.path("draft_n"));
  say.add(Quantity::accepted, chunk.accepted, timings.path("draft_n_accepted"));
  say_rate(timings, say, message);
}

}  // namespace

std::optional<RateRule> rate_rule(double per_s, long tokens, double seconds) {
  if (tokens < 2 || seconds <= 0 || per_s <= 0) return std::nullopt;
  const double n = static_cast<double>(tokens);
  const double off_all = std::abs(per_s * seconds / n - 1);
  const double off_but_first = std::abs(per_s * seconds / (n - 1) - 1);
  const double nearest = std::min(off_all, off_but_first);
  if (nearest > rounding) return RateRule{"neither n/t nor (n-1)/t of the same answer", false};
  if (std::max(off_all, off_but_first) < 3 * nearest)
    return RateRule{"n/t or (n-1)/t: rounded too far to tell", true};
  if (off_all < off_but_first) return RateRule{"n/t: the first token counts as decoded", true};
  return RateRule{"(n-1)/t: the first token is prefill's", true};
}

void read_timings(const Fields& timings, const std::string& endpoint, bool last, Message& message) {
  if (!timings) return;
  if (const auto tokens = timings.count("predicted_n")) message.chunk.output_tokens = tokens;
  message.chunk.decode_ms = timings.amount("predicted_ms");
  message.chunk.offered = timings.count("draft_n");
  message.chunk.accepted = timings.count("draft_n_accepted");
  if (last) say_all(timings, endpoint, message);
}

}  // namespace paceline::dialect
