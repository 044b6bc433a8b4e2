#include "metrics/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "metrics/counts.hpp"
#include "metrics/groups.hpp"
#include "metrics/interval.hpp"
#include "metrics/load_window.hpp"
#include "metrics/rates.hpp"

namespace paceline::metrics {

namespace {

using trace::LoadCell;
using trace::LoadLoop;
using trace::OutcomeKind;

constexpr double seconds_per_ns = 1e-9;
// What llama-server and its fork count; no other server says how often it decoded.
constexpr const char* decodes_counter = "llamacpp:n_decode_total";
constexpr const char* tokens_counter = "llamacpp:tokens_predicted_total";
constexpr const char* not_all_done = "not every request ended as it should";

/// One cell in one launch, and where it belongs.
struct Place {
  const trace::Launch* launch = nullptr;
  const LoadCell* cell = nullptr;
};

/// What one launch says of a cell.
struct CellFigures {
  double seconds = 0;
  Counts counts;  ///< of the requests that were done
  bool all_done = true;
  Count forwards;
  Count counted_tokens;  ///< by the server's counter
  Count prompt_batches;
  std::vector<double> ttft_s;
  std::vector<double> inter_burst_s;
  std::vector<double> experienced;  ///< F / T, by request
};

Count moved_by(const LoadCell& cell, const char* name) {
  const auto before = cell.counters_before.find(name);
  const auto after = cell.counters_after.find(name);
  if (before == cell.counters_before.end() || after == cell.counters_after.end())
    return Count::unknown("the server does not count it, or could not be asked");
  const double moved = after->second - before->second;
  if (!(moved >= 0)) return Count::unknown("its counter fell: the server was started again");
  return moved < 1e15 ? Count(std::lround(moved)) : Count::unknown("its counter leapt");
}

void add_gaps(const trace::Request& request, std::vector<double>& gaps) {
  const auto groups = group_chunks(request.chunks, std::nullopt).list;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const double gap =
        static_cast<double>(groups[i].arrived_ns - groups[i - 1].arrived_ns) * seconds_per_ns;
    if (gap > 0) gaps.push_back(gap);
  }
}

CellFigures figures_of(const LoadCell& cell) {
  CellFigures figures;
  figures.seconds = static_cast<double>(cell.ended_ns - cell.began_ns) * seconds_per_ns;
  figures.forwards = moved_by(cell, decodes_counter);
  figures.counted_tokens = moved_by(cell, tokens_counter);
  figures.all_done = std::cmp_equal(cell.requests.size(), cell.planned);
  for (const auto& request : cell.requests) {
    const auto counts = count_request(request);
    if (!counts) {
      figures.all_done = false;
      continue;
    }
    add(figures.counts, *counts);
    if (counts->ttft_s.known()) figures.ttft_s.push_back(*counts->ttft_s.value());
    if (counts->passes.known() && counts->decode_s > 0)
      figures.experienced.push_back(counts->passes.number() / counts->decode_s);
    add_gaps(request, figures.inter_burst_s);
    figures.prompt_batches += request.answer && request.answer->prompt_batches
                                  ? Count(*request.answer->prompt_batches)
                                  : Count::unknown("batches of prompts are not told");
  }
  if (!figures.all_done)
    figures.counts.passes = figures.counts.residual_passes = Count::unknown(not_all_done);
  return figures;
}

void keep_highest(std::optional<double>& highest, const std::optional<double>& value) {
  if (value) highest = std::max(highest.value_or(*value), *value);
}

/// Which of the client's limits one launch of the cell was past; empty when none.
std::string bottleneck(const LoadSummary& summary) {
  if (summary.lag_p99_s && *summary.lag_p99_s > most_client_lag_p99_s)
    return fmt::format(
        "the client was the bottleneck: its 99th percentile of lag is over {:.0f} ms",
        1e3 * most_client_lag_p99_s);
  if (summary.client_cpu_share && *summary.client_cpu_share > most_client_cpu_share)
    return fmt::format("the client was the bottleneck: it took over {:.0f} % of a core",
                       1e2 * most_client_cpu_share);
  return "";
}

void fill_client(LoadSummary& summary, const std::vector<Place>& places) {
  for (const auto& [launch, cell] : places) {
    const double seconds = static_cast<double>(cell->ended_ns - cell->began_ns) * seconds_per_ns;
    if (cell->client_cpu_s && seconds > 0)
      keep_highest(summary.client_cpu_share, *cell->client_cpu_s / seconds);
    keep_highest(summary.lag_p50_s, cell->lag_p50_s);
    keep_highest(summary.lag_p99_s, cell->lag_p99_s);
    keep_highest(summary.lag_max_s, cell->lag_max_s);
  }
  summary.refusal = bottleneck(summary);
}

void fill_outcomes(LoadSummary& summary, const std::vector<Place>& places) {
  for (const auto& [launch, cell] : places) {
    ++summary.launches;
    summary.planned += cell->planned;
    for (const auto& request : cell->requests) {
      const auto kind = request.outcome.kind;
      ++(kind == OutcomeKind::done        ? summary.done
         : kind == OutcomeKind::cancelled ? summary.cancelled
                                          : summary.failed);
    }
  }
}

/// Values of launches, with the first reason why one has none.
struct Values {
  std::vector<double> list;
  std::string reason;

  void add(double value, const std::string& why_not) {
    if (std::isfinite(value) && value > 0)
      list.push_back(value);
    else if (reason.empty())
      reason = why_not.empty() ? "nothing was decoded" : why_not;
  }
  Estimate estimate() const {
    return list.empty() ? unknown(reason.empty() ? "no launch ran it" : reason)
                        : over_launches(list);
  }
};

void fill_window(LoadSummary& summary, const std::vector<Place>& places) {
  Values rates, lengths;
  bool shared_out = false;
  for (const auto& [launch, cell] : places) {
    const auto [window, reason] = steady_window(*cell);
    rates.add(window ? window->tokens_per_s() : 0, reason);
    lengths.add(window ? window->seconds() : 0, reason);
    if (!window) continue;
    shared_out |= window->is_shared_out;
    if (window->tokens > 0) summary.by_round[launch->round] = window->tokens_per_s();
  }
  summary.tokens_rule =
      shared_out ? "by the arrival of each event; a request's total is shared out by their bytes"
                 : "by the arrival of each event, which says how many tokens it holds";
  summary.tokens_per_s = rates.estimate();
  summary.window_s = lengths.estimate();
}

/// tokens/s = forwards/s x sequences per forward x tokens per sequence pass, launch by launch.
void fill_factors(LoadSummary& summary, const std::vector<CellFigures>& launches) {
  Values rate, forwards, sequences, tokens, experienced;
  for (const auto& one : launches) {
    const auto& counts = one.counts;
    const auto emitted = static_cast<double>(counts.decode_tokens);
    const std::string why = one.all_done ? "" : not_all_done;
    rate.add(one.all_done ? emitted / one.seconds : 0, why);
    forwards.add(one.forwards.number() / one.seconds, one.forwards.reason());
    sequences.add(counts.passes.number() / one.forwards.number(),
                  one.forwards.known() ? counts.passes.reason() : one.forwards.reason());
    tokens.add(emitted / counts.passes.number(), counts.passes.reason());
    auto by_request = one.experienced;
    const auto median = percentile(std::move(by_request), 0.5);
    experienced.add(median.value.value_or(0),
                    counts.passes.known() ? median.reason : counts.passes.reason());
  }
  summary.cell_tokens_per_s = rate.estimate();
  summary.forwards_per_s = forwards.estimate();
  summary.sequences_per_forward = sequences.estimate();
  summary.tokens_per_sequence_pass = tokens.estimate();
  summary.experienced_passes_per_s = experienced.estimate();
}

void fill_counts(LoadSummary& summary, const std::vector<CellFigures>& launches) {
  for (const auto& one : launches) {
    summary.forwards += one.forwards;
    summary.sequence_passes += one.counts.passes;
    summary.prefill_tokens += one.counts.prefill_tokens;
    summary.prefill_cached += one.counts.prefill_cached;
    summary.offered += one.counts.offered;
    summary.residual_passes += one.counts.residual_passes;
    summary.residual_tokens += !one.all_done ? Count::unknown(not_all_done)
                                             : one.counted_tokens - Count(one.counts.output_tokens);
  }
}

void fill_latencies(LoadSummary& summary, const std::vector<CellFigures>& launches) {
  std::vector<double> ttft, gaps;
  for (const auto& one : launches) {
    ttft.insert(ttft.end(), one.ttft_s.begin(), one.ttft_s.end());
    gaps.insert(gaps.end(), one.inter_burst_s.begin(), one.inter_burst_s.end());
  }
  summary.ttft_p50_s = percentile(ttft, 0.50);
  summary.ttft_p95_s = percentile(ttft, 0.95);
  summary.ttft_p99_s = percentile(std::move(ttft), 0.99);
  summary.inter_burst_p50_s = percentile(gaps, 0.50);
  summary.inter_burst_p99_s = percentile(std::move(gaps), 0.99);
}

void refuse(LoadSummary& summary) {
  for (Estimate LoadSummary::*figure :
       {&LoadSummary::tokens_per_s, &LoadSummary::cell_tokens_per_s, &LoadSummary::forwards_per_s,
        &LoadSummary::experienced_passes_per_s, &LoadSummary::ttft_p50_s, &LoadSummary::ttft_p95_s,
        &LoadSummary::ttft_p99_s, &LoadSummary::inter_burst_p50_s, &LoadSummary::inter_burst_p99_s})
    summary.*figure = unknown(summary.refusal);
  summary.by_round.clear();
}

std::string name_of(const LoadSummary& summary) {
  return summary.loop == LoadLoop::closed
             ? fmt::format("{} at concurrency {}", summary.arm, summary.level)
             : fmt::format("{} at {:g} requests/s", summary.arm, summary.rate_per_s);
}

/// Every forward past those of prompts holds 1 to `level` sequences, so that with one in flight
/// forwards are passes and batches of prompts; and counters count what came.
void check(const LoadSummary& summary, const std::vector<CellFigures>& launches,
           std::vector<std::string>& contradictions) {
  const std::string name = name_of(summary);
  for (const auto& one : launches) {
    const auto& passes = one.counts.passes;
    if (summary.level > 0 && one.forwards.known() &&
        passes > Count(*one.forwards.value() * summary.level))
      contradictions.push_back(
          fmt::format("{}: {} passes of sequences do not fit into {} forwards of at most {}", name,
                      *passes.value(), *one.forwards.value(), summary.level));
    const Count alone = passes + one.prompt_batches;
    if (one.forwards > alone || (summary.level == 1 && one.forwards < alone))
      contradictions.push_back(fmt::format(
          "{}: {} forwards do not go with {} passes and {} batches of prompts: somebody else used "
          "the server, or records are lost",
          name, *one.forwards.value(), *passes.value(), *one.prompt_batches.value()));
  }
  if (summary.residual_tokens.known() && !(summary.residual_tokens == 0))
    contradictions.push_back(fmt::format(
        "{}: the server counted {} tokens more than arrived: somebody else used it, or events were "
        "lost",
        name, *summary.residual_tokens.value()));
}

LoadSummary summarise_cell(const std::string& arm, const std::vector<Place>& places,
                           std::vector<std::string>& contradictions) {
  LoadSummary summary;
  const LoadCell& first = *places.front().cell;
  summary.arm = arm;
  summary.loop = first.loop;
  summary.level = first.level;
  summary.rate_per_s = first.rate_per_s;
  std::vector<CellFigures> launches;
  for (const auto& [launch, cell] : places) launches.push_back(figures_of(*cell));
  fill_outcomes(summary, places);
  fill_window(summary, places);
  fill_factors(summary, launches);
  fill_counts(summary, launches);
  fill_latencies(summary, launches);
  check(summary, launches, contradictions);
  fill_client(summary, places);
  if (!summary.refusal.empty()) refuse(summary);
  return summary;
}

using CellKey = std::tuple<LoadLoop, int, double>;

std::map<CellKey, std::vector<Place>> places_of(const trace::Trace& trace, const std::string& arm) {
  std::map<CellKey, std::vector<Place>> places;
  for (const auto& launch : trace.launches)
    if (launch.arm == arm && trace::is_headline(launch, trace.header))
      for (const auto& cell : launch.loads)
        places[{cell.loop, cell.level, cell.rate_per_s}].push_back({&launch, &cell});
  return places;
}

const LoadSummary* find(const std::vector<LoadSummary>& cells, const std::string& arm, int level) {
  for (const auto& cell : cells)
    if (cell.arm == arm && cell.loop == LoadLoop::closed && cell.level == level) return &cell;
  return nullptr;
}

LevelRates rates_at(const LoadSummary& arm, const LoadSummary* plain) {
  LevelRates rates;
  rates.level = arm.level;
  rates.arm = arm.by_round;
  if (plain != nullptr) rates.plain = plain->by_round;
  if (plain == nullptr)
    rates.reason = "plain was not measured at this level";
  else if (arm.by_round.empty() || plain->by_round.empty())
    rates.reason = arm.by_round.empty() ? arm.tokens_per_s.reason : plain->tokens_per_s.reason;
  else if (arm.offered < Count(fewest_offered))
    rates.reason = fmt::format("only {} draft tokens offered, under {}: no comparison",
                               *arm.offered.value(), fewest_offered);
  return rates;
}

}  // namespace

Estimate percentile(std::vector<double> values, double share) {
  const auto fewest = static_cast<std::size_t>(std::llround(1 / (1 - share)));
  if (values.size() < fewest)
    return unknown(fmt::format("too few: {} values, a percentile of {:g} needs {}", values.size(),
                               100 * share, fewest));
  std::sort(values.begin(), values.end());
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()) - 1e-9));
  Estimate estimate;
  estimate.value = values[std::max<std::size_t>(rank, 1) - 1];
  estimate.n = static_cast<int>(values.size());
  estimate.method = "nearest rank, launches pooled";
  estimate.reason = "percentiles are given without an interval";
  return estimate;
}

LoadResults summarise_loads(const trace::Trace& trace) {
  LoadResults results;
  for (const auto& arm : trace.header.arms)
    for (const auto& [key, places] : places_of(trace, arm.name))
      results.cells.push_back(summarise_cell(arm.name, places, results.contradictions));
  const auto& arms = trace.header.arms;
  for (const auto& arm : arms) {
    if (arm.setup.spec_type == trace::SpecType::none || !trace::find_arm(arms, arm.plain)) continue;
    std::vector<LevelRates> levels;
    for (const auto& cell : results.cells)
      if (cell.arm == arm.name && cell.loop == LoadLoop::closed)
        levels.push_back(rates_at(cell, find(results.cells, arm.plain, cell.level)));
    if (arm.setup.forced)
      for (auto& rates : levels)
        rates.reason = "its acceptance was forced: it is not held against a real run";
    if (!levels.empty()) results.crossovers.push_back(find_crossover(arm.name, levels));
  }
  return results;
}

}  // namespace paceline::metrics
