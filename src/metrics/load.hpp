#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/crossover.hpp"
#include "metrics/estimate.hpp"
#include "metrics/total.hpp"
#include "trace/trace.hpp"

namespace paceline::metrics {

/// Above either of these this program was the bottleneck, and a cell has no rate and no latency.
inline constexpr double most_client_lag_p99_s = 0.005;
inline constexpr double most_client_cpu_share = 0.7;

/// Many requests at once on one arm, all its launches together.
struct LoadSummary {
  std::string arm;
  trace::LoadLoop loop = trace::LoadLoop::closed;
  int level = 0;          ///< requests in flight; 0 in an open loop
  double rate_per_s = 0;  ///< requests due per second; 0 in a closed loop
  int launches = 0;       ///< that ran it
  int planned = 0;        ///< requests, over the launches
  int done = 0;
  int failed = 0;
  int cancelled = 0;
  std::string refusal;  ///< why there are no rates and latencies; empty when there are

  Estimate tokens_per_s;  ///< in the steady window
  Estimate window_s;      ///< length of that window
  std::string tokens_rule;
  std::map<int, double> by_round;  ///< tokens_per_s of each round's launch

  // Over the whole cell, its beginning and end included: the first of the next four is the
  // product of the others.
  Estimate cell_tokens_per_s;
  Estimate forwards_per_s;
  Estimate sequences_per_forward;
  Estimate tokens_per_sequence_pass;
  Count forwards;         ///< decode calls, those of prompts alone included
  Count sequence_passes;  ///< sum of F over the requests
  Count prefill_tokens;   ///< prompt tokens decoded among them
  Count prefill_cached;   ///< prompt tokens that a cache answered
  Count offered;          ///< D
  Count residual_passes;  ///< F counted minus F from the identity, over the requests
  Count residual_tokens;  ///< tokens that the server's counter moved by minus those that arrived

  Estimate experienced_passes_per_s;  ///< median over requests
  Estimate ttft_p50_s;                ///< from when requests were due; likewise the next two
  Estimate ttft_p95_s;
  Estimate ttft_p99_s;
  Estimate inter_burst_p50_s;
  Estimate inter_burst_p99_s;

  std::optional<double> client_cpu_share;  ///< of one core, the highest of the launches
  std::optional<double> lag_p50_s;         ///< likewise the highest
  std::optional<double> lag_p99_s;
  std::optional<double> lag_max_s;
};

struct LoadResults {
  std::vector<LoadSummary> cells;  ///< by arm, closed loops by level, then open ones by rate
  std::vector<Crossover> crossovers;
  std::vector<std::string> contradictions;  ///< counts that cannot all be true
};

/// Every figure of a run's loads; empty where one request ran at a time.
LoadResults summarise_loads(const trace::Trace& trace);

/// The value that this share (0 to 1) of all does not exceed, by nearest rank. Unknown when fewer
/// values than 1 / (1 - share) could not have one beyond it.
Estimate percentile(std::vector<double> values, double share);

}  // namespace paceline::metrics
