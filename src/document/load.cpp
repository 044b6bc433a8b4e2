#include "document/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "document/workload.hpp"
#include "trace/names.hpp"

namespace paceline::document {

namespace {

Known<long> to_known(const metrics::Count& count) {
  return known_or(count.value(), count.reason());
}

Client to_client(const metrics::LoadSummary& from) {
  const char* const no_lag = "the engine does not say how late its answers were looked at";
  return {
      known_or(from.client_cpu_share, "the engine does not say what its jobs cost this program"),
      known_or(from.lag_p50_s, no_lag), known_or(from.lag_p99_s, no_lag),
      known_or(from.lag_max_s, no_lag),
      from.refusal.empty() ? not_known<std::string>("the client kept up") : known(from.refusal)};
}

Load to_load(const metrics::LoadSummary& from) {
  Load load;
  const bool closed = from.loop == trace::LoadLoop::closed;
  load.arm = from.arm;
  load.loop = util::enum_name(from.loop);
  load.concurrency = closed ? known(from.level) : not_known<int>("requests are sent when due");
  load.rate_per_s =
      closed ? not_known<double>("requests are sent when one ends") : known(from.rate_per_s);
  load.launches = from.launches;
  load.requests_planned = from.planned;
  load.requests_done = from.done;
  load.requests_failed = from.failed;
  load.requests_cancelled = from.cancelled;
  load.tokens_per_s = to_quantity(from.tokens_per_s);
  load.window_s = to_quantity(from.window_s);
  load.tokens_rule = from.tokens_rule;
  load.cell_tokens_per_s = to_quantity(from.cell_tokens_per_s);
  load.forwards_per_s = to_quantity(from.forwards_per_s);
  load.sequences_per_forward = to_quantity(from.sequences_per_forward);
  load.tokens_per_sequence_pass = to_quantity(from.tokens_per_sequence_pass);
  load.forwards = to_known(from.forwards);
  load.sequence_passes = to_known(from.sequence_passes);
  load.prefill_tokens = to_known(from.prefill_tokens);
  load.prefill_cached = to_known(from.prefill_cached);
  load.residual_passes = to_known(from.residual_passes);
  load.residual_tokens = to_known(from.residual_tokens);
  load.experienced_passes_per_s = to_quantity(from.experienced_passes_per_s);
  load.ttft_s = {to_quantity(from.ttft_p50_s), to_quantity(from.ttft_p95_s),
                 to_quantity(from.ttft_p99_s)};
  load.inter_burst_s = {to_quantity(from.inter_burst_p50_s), to_quantity(from.inter_burst_p99_s)};
  load.client = to_client(from);
  return load;
}

CrossoverConcurrency to_crossover(const metrics::Crossover& from) {
  CrossoverConcurrency crossover;
  crossover.arm = from.arm;
  crossover.concurrency = known_or(from.level, "at no level measured it surely costs");
  crossover.says = from.says;
  for (const auto& level : from.levels)
    crossover.levels.push_back({level.level, to_quantity(level.ratio), level.verdict});
  return crossover;
}

std::string says(const metrics::LoadResults& loads) {
  std::string text = "one request at a time: rates are those of one sequence alone";
  std::set<int> levels;
  std::set<double> rates;
  for (const auto& cell : loads.cells)
    cell.loop == trace::LoadLoop::closed ? (void)levels.insert(cell.level)
                                         : (void)rates.insert(cell.rate_per_s);
  if (!levels.empty())
    text += fmt::format("; then {} at once, of which loads[] tell", fmt::join(levels, ", "));
  if (!rates.empty())
    text += fmt::format("; then {} due per second, likewise", fmt::join(rates, ", "));
  return text;
}

}  // namespace

void fill_loads(Document& document, const metrics::LoadResults& loads) {
  document.concurrency = {1, says(loads)};
  for (const auto& cell : loads.cells) document.loads.push_back(to_load(cell));
  for (const auto& crossover : loads.crossovers)
    document.crossover_concurrency.push_back(to_crossover(crossover));
}

}  // namespace paceline::document
