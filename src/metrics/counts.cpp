#include "metrics/counts.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace paceline::metrics {

namespace {

constexpr double seconds_per_ns = 1e-9;
constexpr std::size_t window_tokens = 8;
const char* const no_generated = "the drafter does not say how many tokens it computed";
// No pass of any engine holds as many tokens. Traces are files: without a bound a damaged count
// would become an allocation.
constexpr int largest_count = 1'000'000;

// Of the drafters that llama.cpp has, and some.
constexpr int most_drafters = 64;

constexpr long most_pages = 1'000'000'000'000;  // 4 PB

bool is_possible(int count) { return count >= 0 && count <= largest_count; }

bool has_possible_counts(const trace::Request& request) {
  const auto& prefill = request.prefill;
  const long pages = request.disk_pages.value_or(0);
  return is_possible(prefill.prompt_tokens) && is_possible(prefill.processed_tokens) &&
         pages >= 0 && pages <= most_pages &&
         std::all_of(request.passes.begin(), request.passes.end(),
                     [](const trace::Pass& pass) {
                       return is_possible(pass.attempts) && pass.attempts <= most_drafters &&
                              is_possible(pass.offered) && is_possible(pass.tested) &&
                              is_possible(pass.accepted) && is_possible(pass.width) &&
                              is_possible(pass.generated.value_or(0));
                     }) &&
         std::all_of(request.emissions.begin(), request.emissions.end(),
                     [](const trace::Emission& emission) {
                       return is_possible(emission.accepted) && is_possible(emission.overshoot);
                     });
}

bool has_forward_clock(const trace::Request& request) {
  const auto earlier = [](const trace::Emission& a, const trace::Emission& b) {
    return a.at_ns < b.at_ns;
  };
  return request.prefill.began_ns <= request.prefill.ended_ns &&
         std::is_sorted(request.emissions.begin(), request.emissions.end(), earlier) &&
         std::all_of(request.passes.begin(), request.passes.end(),
                     [](const trace::Pass& pass) { return pass.began_ns <= pass.ended_ns; });
}

void count_draft(Counts& counts, const trace::Pass& pass) {
  counts.offered += pass.offered;
  counts.tested += pass.tested;
  counts.accepted_in_passes += pass.accepted;
  ++counts.histogram[{pass.offered, pass.accepted}];
  const auto depth = static_cast<std::size_t>(std::max(pass.offered, pass.accepted));
  if (counts.positions.size() < depth) counts.positions.resize(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    const auto before = static_cast<int>(i);
    auto& position = counts.positions[i];
    if (pass.offered > before) ++position.offered;
    if (pass.offered > before && pass.accepted >= before) ++position.reached;
    if (pass.accepted > before) ++position.accepted;
  }
}

Count generated_in(const trace::Pass& pass) {
  return pass.generated ? Count(*pass.generated) : Count::unknown(no_generated);
}

void count_drafters(Counts& counts, const trace::Pass& pass) {
  const auto asked = static_cast<std::size_t>(pass.attempts);
  if (counts.asked.size() < asked) counts.asked.resize(asked);
  for (std::size_t i = 0; i < asked; ++i) ++counts.asked[i];
  DrafterTally& tally = counts.by_drafter[pass.drafter];
  tally.generated += generated_in(pass);
  tally.offered += pass.offered;
  tally.tested += pass.tested;
  tally.accepted += pass.accepted;
  if (pass.kind == trace::PassKind::speculative) ++tally.passes_speculative;
}

void count_pass(Counts& counts, const trace::Pass& pass) {
  ++counts.passes;
  ++counts.widths[pass.width];
  if (pass.superseded) ++counts.passes_superseded;
  if (pass.attempts > 0) {
    counts.attempts += pass.attempts;
    ++counts.attempted_widths[pass.width];
    counts.generated += generated_in(pass);
    count_drafters(counts, pass);
  }
  switch (pass.kind) {
    case trace::PassKind::plain:
      ++counts.passes_plain;
      break;
    case trace::PassKind::replay:
      ++counts.passes_replay;
      break;
    case trace::PassKind::speculative:
      ++counts.passes_speculative;
      count_draft(counts, pass);
      break;
  }
}

void count_emissions(Counts& counts, const std::vector<trace::Emission>& emissions) {
  for (const auto& emission : emissions) {
    counts.output_tokens += static_cast<long>(emission.tokens.size());
    counts.accepted += emission.accepted;
    counts.overshoot += emission.overshoot;
  }
  counts.decode_tokens = counts.output_tokens - 1;
  counts.bursts = static_cast<long>(emissions.size()) - 1;
  counts.decode_s =
      static_cast<double>(emissions.back().at_ns - emissions.front().at_ns) * seconds_per_ns;
}

void count_windows(Counts& counts, const std::vector<trace::Emission>& emissions) {
  std::vector<std::int32_t> output;
  for (const auto& emission : emissions)
    output.insert(output.end(), emission.tokens.begin(), emission.tokens.end());
  std::set<std::array<std::int32_t, window_tokens>> seen;
  for (std::size_t start = 0; start + window_tokens <= output.size(); ++start) {
    std::array<std::int32_t, window_tokens> window;
    std::copy_n(output.begin() + static_cast<std::ptrdiff_t>(start), window_tokens, window.begin());
    if (std::count(window.begin(), window.end(), trace::unknown_token) > 0) continue;
    ++counts.windows_8gram;
    if (!seen.insert(window).second) ++counts.windows_8gram_repeated;
  }
}

template <class Map>
void add_map(Map& total, const Map& more) {
  for (const auto& [key, count] : more) total[key] += count;
}

void add_positions(std::vector<PositionCounts>& total, const std::vector<PositionCounts>& more) {
  if (total.size() < more.size()) total.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) {
    total[i].offered += more[i].offered;
    total[i].reached += more[i].reached;
    total[i].accepted += more[i].accepted;
  }
}

void add_drafters(Counts& total, const Counts& more) {
  for (const auto& [name, tally] : more.by_drafter) {
    DrafterTally& sum = total.by_drafter[name];
    sum.passes_speculative += tally.passes_speculative;
    sum.generated += tally.generated;
    sum.offered += tally.offered;
    sum.tested += tally.tested;
    sum.accepted += tally.accepted;
  }
  if (total.asked.size() < more.asked.size()) total.asked.resize(more.asked.size());
  for (std::size_t i = 0; i < more.asked.size(); ++i) total.asked[i] += more.asked[i];
}

/// What only passes that were recorded where they were made, and one clock, allow.
void finish_recorded(Counts& counts, const trace::Prefill& prefill) {
  counts.residual_passes = counts.passes - (counts.passes_superseded + counts.decode_tokens -
                                            counts.accepted + counts.overshoot);
  counts.prefill_s = static_cast<double>(prefill.ended_ns - prefill.began_ns) * seconds_per_ns;
  counts.prefill_drafter_s = static_cast<double>(prefill.drafter_ns) * seconds_per_ns;
  counts.ttft_s = counts.prefill_s;
  counts.ttfo_s = Seconds::unknown("no text was streamed");
  counts.client_decode_s = Seconds::unknown("the engine ran in no server");
  counts.prefill_tokens = prefill.processed_tokens;
}

Count to_count(const trace::Counted& counted) {
  return counted.value ? Count(*counted.value) : Count::unknown(counted.reason);
}

Seconds to_seconds(const std::optional<double>& seconds, const char* reason) {
  return seconds ? Seconds(*seconds) : Seconds::unknown(reason);
}

/// Dense counts by position, of a server that gives no record of each pass.
void take_positions(Counts& counts, const trace::Tally& tally) {
  counts.positions.resize(tally.accepted_at.size());
  for (std::size_t i = 0; i < counts.positions.size(); ++i) {
    auto& position = counts.positions[i];
    position.accepted = tally.accepted_at[i];
    position.offered = i < tally.offered_at.size()
                           ? Count(tally.offered_at[i])
                           : Count::unknown("the server does not say what it offered by position");
    position.reached =
        i == 0 ? position.offered : Count::unknown("the server gives no record of each pass");
  }
}

/// A tally stands for everything that passes would have given, and for our clock of a server.
void take_tally(Counts& counts, const trace::Tally& tally) {
  counts.passes = to_count(tally.passes);
  counts.passes_speculative = to_count(tally.passes_speculative);
  counts.passes_replay = to_count(tally.passes_replay);
  counts.passes_plain = counts.passes - counts.passes_speculative - counts.passes_replay;
  // A replay makes a token of its own, so the verify before it is not superseded.
  if (!counts.passes_replay.known()) counts.passes_superseded = counts.passes_replay;
  counts.attempts = to_count(tally.attempts);
  counts.generated = to_count(tally.generated);
  counts.offered = to_count(tally.offered);
  counts.tested = to_count(tally.tested);
  counts.accepted = counts.accepted_in_passes = to_count(tally.accepted);
  counts.overshoot = to_count(tally.overshoot);
  counts.residual_passes = to_count(tally.residual_passes);
  counts.prefill_tokens = to_count(tally.prompt_processed);
  counts.prefill_cached = to_count(tally.prompt_cached);
  counts.prefill_s =
      to_seconds(tally.prefill_s, "the server does not say how long the prompt took it");
  counts.prefill_drafter_s = Seconds::unknown("the server does not say its drafter's part of it");
  counts.ttft_s = to_seconds(tally.ttft_s, "no event carried a token");
  counts.ttfo_s = to_seconds(tally.ttfo_s, "no event carried visible text");
  counts.client_decode_s = to_seconds(tally.client_decode_s, "no event carried a token");
  if (counts.positions.empty()) take_positions(counts, tally);
}

}  // namespace

std::optional<Counts> count_request(const trace::Request& request) {
  if (request.outcome.kind != trace::OutcomeKind::done) return std::nullopt;
  if (!has_possible_counts(request) || !has_forward_clock(request)) return std::nullopt;
  if (request.emissions.empty()) return std::nullopt;
  Counts counts;
  counts.requests = 1;
  count_emissions(counts, request.emissions);
  if (counts.output_tokens == 0) return std::nullopt;
  for (const auto& pass : request.passes) count_pass(counts, pass);
  count_windows(counts, request.emissions);
  counts.disk_pages = request.disk_pages
                          ? Count(*request.disk_pages)
                          : Count::unknown("the engine does not say what came from disk");
  if (request.tally)
    take_tally(counts, *request.tally);
  else
    finish_recorded(counts, request.prefill);
  return counts;
}

void add(Counts& total, const Counts& more) {
  total.requests += more.requests;
  total.output_tokens += more.output_tokens;
  total.decode_tokens += more.decode_tokens;
  total.decode_s += more.decode_s;
  total.passes += more.passes;
  total.passes_speculative += more.passes_speculative;
  total.passes_plain += more.passes_plain;
  total.passes_replay += more.passes_replay;
  total.passes_superseded += more.passes_superseded;
  total.attempts += more.attempts;
  total.generated += more.generated;
  total.offered += more.offered;
  total.tested += more.tested;
  total.accepted += more.accepted;
  total.accepted_in_passes += more.accepted_in_passes;
  total.overshoot += more.overshoot;
  total.residual_passes += more.residual_passes;
  total.bursts += more.bursts;
  total.prefill_s += more.prefill_s;
  total.ttft_s += more.ttft_s;
  total.ttfo_s += more.ttfo_s;
  total.client_decode_s += more.client_decode_s;
  total.prefill_cached += more.prefill_cached;
  total.prefill_drafter_s += more.prefill_drafter_s;
  total.prefill_tokens += more.prefill_tokens;
  total.bytes_read += more.bytes_read;
  total.disk_pages += more.disk_pages;
  add_map(total.bytes_by_class, more.bytes_by_class);
  add_map(total.rows_gathered, more.rows_gathered);
  total.bytes_are_modelled |= more.bytes_are_modelled;
  total.windows_8gram += more.windows_8gram;
  total.windows_8gram_repeated += more.windows_8gram_repeated;
  add_positions(total.positions, more.positions);
  add_map(total.histogram, more.histogram);
  add_map(total.widths, more.widths);
  add_map(total.attempted_widths, more.attempted_widths);
  add_drafters(total, more);
}

DrafterTally tally_of(const Counts& counts, const std::string& name, bool is_last) {
  const auto found = counts.by_drafter.find(name);
  DrafterTally tally = found == counts.by_drafter.end() ? DrafterTally{} : found->second;
  const auto in_vain = counts.by_drafter.find("");
  if (is_last && in_vain != counts.by_drafter.end()) tally.generated += in_vain->second.generated;
  return tally;
}

double effective_prompts(const std::vector<double>& tokens_by_family) {
  double sum = 0;
  double squares = 0;
  for (const double tokens : tokens_by_family) {
    sum += tokens;
    squares += tokens * tokens;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

}  // namespace paceline::metrics
