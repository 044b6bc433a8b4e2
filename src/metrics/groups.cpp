#include "metrics/groups.hpp"

#include <algorithm>
#include <cmath>

#include "trace/request.hpp"

namespace paceline::metrics {

namespace {

constexpr trace::Nanoseconds burst_gap_ns = 1'000'000;  // DEFINITIONS 6
constexpr double ns_per_ms = 1e6;
// No answer is longer; a total past it is a lie that must not become an allocation.
constexpr long most_tokens = 1'000'000;

bool carries_output(const trace::Chunk& chunk) {
  return !chunk.tokens.empty() || chunk.output_tokens || chunk.content_bytes > 0 ||
         chunk.reasoning_bytes > 0;
}

bool has_pass_clock(const trace::Chunk& chunk) {
  return chunk.decode_ms && std::isfinite(*chunk.decode_ms) && *chunk.decode_ms >= 0 &&
         *chunk.decode_ms < 1e12 && chunk.output_tokens;
}

/// Running totals up to the event before.
struct Totals {
  long output_tokens = 0;
  long offered = 0;
  long accepted = 0;
};

bool same_pass(const trace::Chunk& a, const trace::Chunk& b) { return a.decode_ms == b.decode_ms; }

bool same_burst(const trace::Chunk& a, const trace::Chunk& b) {
  return b.arrived_ns - a.arrived_ns < burst_gap_ns;
}

void add_delta(std::optional<long>& sum, const std::optional<long>& now, long& before) {
  if (!now) return;
  sum = sum.value_or(0) + *now - before;
  before = *now;
}

/// Adds an event's tokens to its group. A total that falls or leaps is kept out of the allocation.
void add_event(Group& group, const trace::Chunk& chunk, Totals& totals) {
  long grown = static_cast<long>(chunk.tokens.size());
  if (chunk.output_tokens) {
    grown = *chunk.output_tokens - totals.output_tokens;
    if (grown < 0 || grown > most_tokens) grown = 0;
    totals.output_tokens = std::max(totals.output_tokens, *chunk.output_tokens);
  }
  const auto said = std::min(chunk.tokens.size(), static_cast<std::size_t>(grown));
  group.hidden |= group.tokens.empty() && grown > 1;
  group.tokens.insert(group.tokens.end(), static_cast<std::size_t>(grown) - said,
                      trace::unknown_token);
  group.tokens.insert(group.tokens.end(), chunk.tokens.end() - static_cast<std::ptrdiff_t>(said),
                      chunk.tokens.end());
  group.output_tokens += grown;
  add_delta(group.offered, chunk.offered, totals.offered);
  add_delta(group.accepted, chunk.accepted, totals.accepted);
}

template <class Same>
std::vector<Group> cut(const std::vector<trace::Chunk>& chunks, Grouping grouping, Same same) {
  std::vector<Group> groups;
  Totals totals;
  const trace::Chunk* last = nullptr;
  for (const auto& chunk : chunks) {
    if (last == nullptr || !same(*last, chunk)) {
      groups.emplace_back();
      groups.back().arrived_ns = chunk.arrived_ns;
      groups.back().at_ns =
          grouping == Grouping::pass_clock
              ? static_cast<trace::Nanoseconds>(std::llround(*chunk.decode_ms * ns_per_ms))
              : chunk.arrived_ns;
    }
    // From the first token to the last: the first burst began with it, the last ends with it.
    if (grouping == Grouping::arrival && groups.size() > 1) groups.back().at_ns = chunk.arrived_ns;
    add_event(groups.back(), chunk, totals);
    last = &chunk;
  }
  return groups;
}

/// Events that carry text and no token, as a flush of held-back bytes, make no group.
void drop_empty(std::vector<Group>& groups) {
  std::erase_if(groups, [](const Group& group) { return group.output_tokens == 0; });
}

/// The server's clock starts with the first token: when that one had no event of its own, it is
/// put back where the clock began.
void restore_first_token(std::vector<Group>& groups) {
  Group& front = groups.front();
  if (!front.hidden || front.output_tokens < 2) return;
  Group first;
  first.arrived_ns = front.arrived_ns;
  first.output_tokens = 1;
  first.tokens = {front.tokens.front()};
  first.hidden = true;
  --front.output_tokens;
  front.tokens.erase(front.tokens.begin());
  groups.insert(groups.begin(), std::move(first));
}

/// Bursts whose events do not say how many tokens they hold: the first is taken to hold the one
/// that prefill made, the rest follows from the total.
void spread(std::vector<Group>& groups, long output_tokens) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const long tokens = i == 0 && groups.size() > 1 ? 1
                        : i + 1 == groups.size()    ? output_tokens - (groups.size() > 1 ? 1 : 0)
                                                    : 0;
    groups[i].output_tokens = std::clamp(tokens, 0L, most_tokens);
    groups[i].tokens.assign(static_cast<std::size_t>(groups[i].output_tokens),
                            trace::unknown_token);
  }
}

}  // namespace

Groups group_chunks(const std::vector<trace::Chunk>& chunks, std::optional<long> output_tokens) {
  std::vector<trace::Chunk> output;
  std::copy_if(chunks.begin(), chunks.end(), std::back_inserter(output), carries_output);
  Groups groups;
  if (output.empty()) return groups;
  if (std::all_of(output.begin(), output.end(), has_pass_clock)) {
    groups.grouping = Grouping::pass_clock;
    groups.list = cut(output, groups.grouping, same_pass);
    groups.counted = true;
    drop_empty(groups.list);
    if (!groups.list.empty()) restore_first_token(groups.list);
    return groups;
  }
  groups.counted = std::all_of(output.begin(), output.end(), [](const trace::Chunk& chunk) {
    return chunk.output_tokens || !chunk.tokens.empty();
  });
  // A stream faster than a token a millisecond is one burst: its first event stands alone then, or
  // there would be no time from the first token to the last.
  const auto apart = [](const auto& a, const auto& b) { return !same_burst(a, b); };
  const bool one_burst = std::adjacent_find(output.begin(), output.end(), apart) == output.end();
  groups.list = cut(output, groups.grouping, [&](const trace::Chunk& a, const trace::Chunk& b) {
    return one_burst ? &a != &output.front() : same_burst(a, b);
  });
  if (groups.counted)
    drop_empty(groups.list);
  else if (output_tokens)
    spread(groups.list, *output_tokens);
  return groups;
}

}  // namespace paceline::metrics
