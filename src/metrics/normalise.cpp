#include "metrics/normalise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "metrics/groups.hpp"

namespace paceline::metrics {

namespace {

using trace::Counted;
using trace::Quantity;
using trace::Said;

constexpr double seconds_per_ns = 1e-9;
constexpr double ns_per_s = 1e9;
constexpr double largest_count = 1e6;

Counted counted(long value, std::string rule) { return {value, std::move(rule), ""}; }
Counted unknown_count(std::string reason) { return {std::nullopt, "", std::move(reason)}; }

std::string place(const Said& said) { return said.field + " of " + said.endpoint; }

/// What was said of a quantity: of the request itself before what counters moved by.
const Said* find(const trace::Answer& answer, Quantity quantity) {
  const Said* found = nullptr;
  for (const auto& said : answer.said) {
    if (said.quantity != quantity) continue;
    if (found == nullptr || said.endpoint == answer.endpoint) found = &said;
  }
  return found;
}

bool is_count(double value) {
  return value >= 0 && value <= largest_count && value == std::floor(value);
}

bool all_counts(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), is_count);
}

std::optional<long> whole(const Said* said) {
  if (said == nullptr || !is_count(said->value)) return std::nullopt;
  return static_cast<long>(said->value);
}

Counted taken(const trace::Answer& answer, Quantity quantity, const char* reason) {
  const Said* said = find(answer, quantity);
  if (const auto value = whole(said))
    return counted(*value, place(*said) + (said->rule.empty() ? "" : ": " + said->rule));
  return unknown_count(
      said == nullptr ? reason
                      : fmt::format("{} says {}, which is no count", place(*said), said->value));
}

/// Everything about one request that the rules below look at.
struct Evidence {
  trace::Request& request;
  trace::Answer& answer;
  Groups groups;
  std::optional<long> output_tokens;  ///< E
  bool declared_plain = false;

  bool has_passes() const {
    return groups.grouping == Grouping::pass_clock && groups.counted && !groups.list.empty();
  }
  bool ended_early() const { return request.stop != trace::StopReason::limit; }
};

std::optional<long> count_output(const trace::Answer& answer,
                                 const std::vector<trace::Chunk>& chunks) {
  if (const auto said = whole(find(answer, Quantity::output_tokens))) return said;
  std::optional<long> total;
  long ids = 0;
  bool all_ids = true;
  for (const auto& chunk : chunks) {
    if (chunk.output_tokens) total = std::max(total.value_or(0), *chunk.output_tokens);
    ids += static_cast<long>(chunk.tokens.size());
    all_ids &= !chunk.tokens.empty() || (chunk.content_bytes == 0 && chunk.reasoning_bytes == 0);
  }
  if (total) return total;
  return all_ids && ids > 0 ? std::optional(ids) : std::nullopt;
}

/// Tokens of a group beyond the one that every pass makes and the drafts it accepted: 1 is a
/// failed verify whose tokens came with its replay, below 0 is overshoot.
long extra_tokens(const Group& group) {
  return group.output_tokens - 1 - group.accepted.value_or(0);
}

/// What the groups of one request say of its passes; all after the first are passes.
struct GroupCounts {
  long passes = 0;
  long speculative = 0;
  long replays = 0;  ///< groups that look like a verify and its replay
  long overshoot = 0;
  bool hidden = false;
  bool odd = false;            ///< a group that no pass can have made
  bool last_is_draft = false;  ///< the output ended early in a group with a draft
};

GroupCounts count_groups(const Evidence& evidence) {
  GroupCounts counts;
  const auto& groups = evidence.groups.list;
  counts.hidden = groups.front().hidden || groups.front().output_tokens != 1;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const Group& group = groups[i];
    const long extra = extra_tokens(group);
    const bool drafted = group.offered.value_or(0) > 0;
    ++counts.passes;
    if (drafted) ++counts.speculative;
    const bool is_cut = i + 1 == groups.size() && evidence.ended_early() && extra <= 0;
    counts.hidden |= group.hidden;
    if (is_cut) {
      counts.overshoot = -extra;
      counts.last_is_draft = drafted;
    } else if (extra == 1 && drafted && !group.hidden) {
      ++counts.replays;
    } else if (extra != 0) {
      counts.odd = true;
    }
  }
  return counts;
}

/// Whether the server's count of accepted tokens by position is what the groups make of it: two
/// passes in one group look like a longer draft, or like a replay.
bool positions_agree(const Evidence& evidence) {
  const Said* said = find(evidence.answer, Quantity::accepted_at);
  if (said == nullptr) return true;
  std::vector<double> by_position(said->values.size());
  for (const Group& group : evidence.groups.list) {
    const long accepted = group.accepted.value_or(0);
    if (std::cmp_greater(accepted, by_position.size())) return false;
    for (long i = 0; i < accepted; ++i) by_position[static_cast<std::size_t>(i)] += 1;
  }
  return by_position == said->values;
}

/// Groups that are passes one by one. A token without an event, or one group too large, says that
/// some are not, and nobody knows which.
bool groups_are_passes(const Evidence& evidence) {
  if (!evidence.has_passes()) return false;
  const GroupCounts counts = count_groups(evidence);
  return !counts.hidden && !counts.odd && positions_agree(evidence);
}

void make_emissions(Evidence& evidence) {
  auto& emissions = evidence.request.emissions;
  const bool by_pass = groups_are_passes(evidence);
  int index = -1;
  for (const auto& group : evidence.groups.list) {
    trace::Emission emission;
    emission.pass = by_pass ? index++ : -1;
    emission.at_ns = group.at_ns;
    emission.tokens = group.tokens;
    emissions.push_back(std::move(emission));
  }
}

/// One record for each group after the first, for tables by position and width and for depth. A
/// verify and its replay share a group and are one record here; the tally counts both.
void make_passes(Evidence& evidence) {
  const auto& groups = evidence.groups.list;
  const long prompt = whole(find(evidence.answer, Quantity::prompt_tokens)).value_or(0);
  long depth = prompt;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const Group& group = groups[i];
    depth += groups[i - 1].output_tokens;
    trace::Pass pass;
    pass.index = static_cast<int>(i) - 1;
    const auto bounded = [](std::optional<long> count) {
      return static_cast<int>(std::clamp(count.value_or(0), -1L, 1'000'001L));
    };
    pass.offered = bounded(group.offered);
    pass.accepted = bounded(group.accepted);
    pass.kind = pass.offered > 0 ? trace::PassKind::speculative : trace::PassKind::plain;
    pass.attempts = pass.offered > 0 ? 1 : 0;
    pass.tested = std::min(pass.offered, pass.accepted + 1);
    pass.width = pass.offered + 1;
    pass.depth = static_cast<int>(std::min(depth, 1'000'000L));
    pass.began_ns = groups[i - 1].at_ns;
    pass.ended_ns = group.at_ns;
    evidence.request.passes.push_back(std::move(pass));
  }
}

/// F by the identity E - 1 = F - W + A - X, with W = 0.
std::optional<long> identity_passes(const Evidence& evidence, const trace::Tally& tally) {
  if (!evidence.output_tokens || !tally.accepted.value || !tally.overshoot.value)
    return std::nullopt;
  return *evidence.output_tokens - 1 - *tally.accepted.value + *tally.overshoot.value;
}

/// F by the server's own count of decode calls, less those of the prompt.
std::optional<long> decoded_passes(const Evidence& evidence) {
  const auto decodes = whole(find(evidence.answer, Quantity::decodes));
  if (!decodes || !evidence.answer.prompt_batches) return std::nullopt;
  return *decodes - *evidence.answer.prompt_batches;
}

/// X in the last group of an output that ended early. Its replay may have been cut too, of which
/// only decode calls can tell: then one token more is missing than the drafts show.
Counted overshoot_at_end(const Evidence& evidence) {
  const GroupCounts groups = count_groups(evidence);
  const char* const rule = "drafts accepted and not emitted at the end";
  if (const auto decoded = decoded_passes(evidence); decoded && !groups.hidden) {
    const bool replayed = groups.last_is_draft && *decoded == groups.passes + groups.replays + 1;
    return counted(groups.overshoot + (replayed ? 1 : 0), rule);
  }
  if (groups.last_is_draft && groups.replays > 0)
    return unknown_count("the output may have ended inside a replay");
  return counted(groups.overshoot, rule);
}

/// X: seen in the last group, nothing at a length stop of llama.cpp's servers, else unknown.
Counted overshoot_of(const Evidence& evidence, const trace::Tally& tally) {
  if (evidence.has_passes())
    return evidence.ended_early() ? overshoot_at_end(evidence)
                                  : counted(0, "a length stop: drafts are cut to what is left");
  if (tally.accepted.value == 0) return counted(0, "no draft was accepted");
  return unknown_count(evidence.ended_early()
                           ? "the output ended before its cap, perhaps inside a draft"
                           : "the last draft may reach past the output's cap");
}

/// F counted without the identity, or why it was not.
Counted independent_passes(const Evidence& evidence) {
  if (const auto decoded = decoded_passes(evidence))
    return counted(*decoded, place(*find(evidence.answer, Quantity::decodes)) +
                                 ", less the batches of the prompt");
  if (const auto said = taken(evidence.answer, Quantity::passes, "not said"); said.value)
    return said;
  if (!evidence.has_passes())
    return unknown_count("the server says nothing of each pass, so passes are not counted twice");
  const GroupCounts groups = count_groups(evidence);
  if (groups.hidden)
    return unknown_count("tokens came without an event of their own, so groups are not passes");
  if (groups.replays > 0)
    return unknown_count(
        "groups hold two tokens more than drafts accepted: replays, or a wrong count; only a "
        "count of decode calls (/metrics) can tell");
  return counted(groups.passes,
                 "groups of tokens that share one time of the server, less the first");
}

void fill_drafts(const Evidence& evidence, trace::Tally& tally) {
  const auto& answer = evidence.answer;
  const char* const unsaid = "the server does not say";
  tally.offered = taken(answer, Quantity::offered, unsaid);
  tally.accepted = taken(answer, Quantity::accepted, unsaid);
  tally.tested = taken(answer, Quantity::tested, unsaid);
  tally.generated = taken(answer, Quantity::generated, unsaid);
  tally.attempts =
      taken(answer, Quantity::attempts, "the server does not say how often it drafted");
  tally.passes_speculative = taken(answer, Quantity::passes_speculative, unsaid);
  for (const auto& [quantity, list] : {std::pair{Quantity::offered_at, &tally.offered_at},
                                       std::pair{Quantity::accepted_at, &tally.accepted_at}})
    if (const Said* said = find(answer, quantity); said != nullptr && all_counts(said->values))
      list->assign(said->values.begin(), said->values.end());
}

/// A server that counts drafts as they come, and said none, offered none; one that says nothing of
/// drafts at all is known to make none only when it was declared so.
void fill_no_drafts(const Evidence& evidence, trace::Tally& tally) {
  const bool said = find(evidence.answer, Quantity::offered) != nullptr ||
                    find(evidence.answer, Quantity::accepted) != nullptr;
  if (said) return;  // also where what it said is no count
  const bool counts_drafts = evidence.has_passes();
  if (!counts_drafts && !evidence.declared_plain) return;
  const char* const rule = counts_drafts ? "the server counts drafts and counted none"
                                         : "the server is declared to be plain";
  tally.offered = tally.accepted = tally.tested = tally.passes_speculative = counted(0, rule);
  tally.generated = tally.attempts = tally.passes_replay = counted(0, rule);
}

/// Fewest passes that the tokens and the drafts allow.
long fewest_passes(const Evidence& evidence, const trace::Tally& tally) {
  const long speculative = tally.passes_speculative.value.value_or(0);
  if (!evidence.output_tokens || !tally.accepted.value) return speculative;
  return std::max(*evidence.output_tokens - 1 - *tally.accepted.value, speculative);
}

/// F by events, of servers that send one a pass and say with each how many tokens there are. They
/// join events when their reader is slow, which shows where a pass cannot make as much, or where
/// fewer are left than there were passes.
Counted streamed_passes(const Evidence& evidence, long fewest) {
  const auto longest = whole(find(evidence.answer, Quantity::draft_n_max));
  const auto& chunks = evidence.request.chunks;
  const Counted unsaid =
      unknown_count("the server says nothing of each pass, so passes are not counted twice");
  long events = 0;
  long total = 0;
  bool joined = false;
  for (const auto& chunk : chunks) {
    if (!chunk.output_tokens || chunk.decode_ms || *chunk.output_tokens < total) return unsaid;
    const long grown = *chunk.output_tokens - total;
    joined |= grown > (events == 0 ? 1 : longest.value_or(grown) + 1);
    if (grown > 0) ++events;
    total = *chunk.output_tokens;
  }
  if (events == 0) return unsaid;
  if (total != evidence.output_tokens)
    return unknown_count("the events hold another number of tokens than was said in the end");
  if (joined || events - 1 < fewest)
    return unknown_count("some events hold the tokens of several passes");
  return counted(events - 1, "events with tokens, one a pass, less the first");
}

/// X where passes were counted by events: what they made beyond the tokens. The last draft cannot
/// lose more than all of itself.
void find_overshoot(Evidence& evidence, const Counted& independent, trace::Tally& tally) {
  if (tally.overshoot.value || !independent.value || !tally.accepted.value ||
      !evidence.output_tokens)
    return;
  const long beyond = *independent.value - (*evidence.output_tokens - 1 - *tally.accepted.value);
  const auto longest = whole(find(evidence.answer, Quantity::draft_n_max));
  if (longest && beyond > *longest)
    evidence.answer.oddities.push_back(
        fmt::format("{} passes and {} accepted drafts make {} tokens more than came, and a draft "
                    "has at most {}",
                    *independent.value, *tally.accepted.value, beyond, *longest));
  else
    tally.overshoot =
        counted(beyond, "passes counted by events, less output_tokens - 1 - accepted");
}

Counted unknown_passes(const Evidence& evidence, const trace::Tally& tally) {
  if (!tally.accepted.value)
    return unknown_count("accepted drafts are not known: " + tally.accepted.reason);
  if (!evidence.output_tokens) return unknown_count("output tokens are not known");
  return unknown_count(fmt::format("{}: there were at least {} passes", tally.overshoot.reason,
                                   fewest_passes(evidence, tally)));
}

void fill_passes(Evidence& evidence, trace::Tally& tally) {
  tally.overshoot = overshoot_of(evidence, tally);
  const auto identity = identity_passes(evidence, tally);
  Counted independent = independent_passes(evidence);
  if (!independent.value && !evidence.has_passes()) {
    independent = streamed_passes(evidence, fewest_passes(evidence, tally));
    find_overshoot(evidence, independent, tally);
  }
  if (independent.value)
    tally.passes = independent;
  else if (identity)
    tally.passes = counted(*identity, "output_tokens - 1 - accepted + overshoot");
  else
    tally.passes = unknown_passes(evidence, tally);
  if (independent.value && identity)
    tally.residual_passes = counted(*independent.value - *identity, "passes counted twice");
  else
    tally.residual_passes =
        unknown_count(!independent.value      ? independent.reason
                      : !tally.accepted.value ? tally.accepted.reason
                                              : "passes were counted once, by events");
}

/// S, V and R where the groups show them.
void fill_kinds(const Evidence& evidence, trace::Tally& tally) {
  const char* const unseen = "the server gives no record of each pass";
  if (!evidence.has_passes()) {
    if (!tally.passes_replay.value) tally.passes_replay = unknown_count(unseen);
    return;
  }
  const GroupCounts groups = count_groups(evidence);
  const bool seen = groups_are_passes(evidence);
  if (!tally.passes_speculative.value && seen)
    tally.passes_speculative = counted(groups.speculative, "groups whose draft_n grew");
  if (!seen && !tally.tested.value) tally.tested = unknown_count("groups are not passes here");
  if (!tally.tested.value && seen) {
    long tested = 0;
    for (const auto& pass : evidence.request.passes) tested += std::max(pass.tested, 0);
    tally.tested = counted(tested, "by group, accepted drafts and the first that was not");
  }
  if (tally.passes_replay.value) return;
  const auto decoded = decoded_passes(evidence);
  if (decoded && !groups.hidden && *decoded >= groups.passes)
    tally.passes_replay = counted(*decoded - groups.passes, "decode calls less groups");
  else if (!decoded && !groups.hidden && !groups.odd)
    tally.passes_replay = counted(groups.replays, "groups of two tokens more than drafts accepted");
  else
    tally.passes_replay = unknown_count("groups are not passes here");
}

void fill_prompt(const Evidence& evidence, trace::Tally& tally) {
  const auto& answer = evidence.answer;
  tally.prompt_cached = taken(answer, Quantity::prompt_cached, "the server does not say");
  tally.prompt_processed = taken(answer, Quantity::prompt_processed, "the server does not say");
  const auto prompt = whole(find(answer, Quantity::prompt_tokens));
  if (!tally.prompt_processed.value && prompt && tally.prompt_cached.value)
    tally.prompt_processed =
        counted(*prompt - *tally.prompt_cached.value, "prompt tokens less cached ones");
  if (const Said* said = find(answer, Quantity::prefill_s); said != nullptr && said->value > 0)
    tally.prefill_s = said->value;
  auto& prefill = evidence.request.prefill;
  prefill.processed_tokens = static_cast<int>(tally.prompt_processed.value.value_or(0));
  prefill.prompt_tokens = static_cast<int>(prompt.value_or(
      tally.prompt_processed.value.value_or(0) + tally.prompt_cached.value.value_or(0)));
  prefill.ended_ns = std::llround(std::clamp(tally.prefill_s.value_or(0), 0.0, 1e9) * ns_per_s);
}

/// Our own clock: role-only and empty events carry no token and start nothing.
void fill_client_times(const Evidence& evidence, trace::Tally& tally) {
  std::optional<trace::Nanoseconds> first, visible, last;
  for (const auto& chunk : evidence.request.chunks) {
    const bool carries =
        !chunk.tokens.empty() || chunk.content_bytes > 0 || chunk.reasoning_bytes > 0;
    if (!carries) continue;
    if (!first) first = chunk.arrived_ns;
    if (!visible && chunk.content_bytes > 0) visible = chunk.arrived_ns;
    last = chunk.arrived_ns;
  }
  const auto since = [](trace::Nanoseconds from, trace::Nanoseconds to) {
    return static_cast<double>(to - from) * seconds_per_ns;
  };
  const auto due = evidence.answer.timeline.scheduled_ns;
  if (first) tally.ttft_s = since(due, *first);
  if (visible) tally.ttfo_s = since(due, *visible);
  if (first && last) tally.client_decode_s = since(*first, *last);
}

/// What was streamed and what was said in the end must be the same number of tokens.
void check_output(Evidence& evidence) {
  if (!evidence.groups.counted || !evidence.output_tokens) return;
  long streamed = 0;
  for (const auto& group : evidence.groups.list) streamed += group.output_tokens;
  if (streamed != *evidence.output_tokens)
    evidence.answer.oddities.push_back(fmt::format("{} tokens were streamed and {} said in the end",
                                                   streamed, *evidence.output_tokens));
}

}  // namespace

void normalise(trace::Request& request, bool declared_plain) {
  if (!request.answer) return;
  auto& answer = *request.answer;
  Evidence evidence{request, answer, {}, count_output(answer, request.chunks), declared_plain};
  evidence.groups = group_chunks(request.chunks, evidence.output_tokens);
  request.passes.clear();
  request.emissions.clear();
  trace::Tally tally;
  make_emissions(evidence);
  if (groups_are_passes(evidence)) make_passes(evidence);
  check_output(evidence);
  fill_drafts(evidence, tally);
  fill_no_drafts(evidence, tally);
  fill_passes(evidence, tally);
  fill_kinds(evidence, tally);
  fill_prompt(evidence, tally);
  fill_client_times(evidence, tally);
  request.tally = std::move(tally);
}

}  // namespace paceline::metrics
