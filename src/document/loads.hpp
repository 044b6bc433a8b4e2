#pragma once

#include <string>
#include <vector>

#include "document/known.hpp"

// Many requests at once, as the document has them (DEFINITIONS 5).

namespace paceline::document {

/// Seconds that half, 95 and 99 of 100 do not exceed.
struct LatencyShares {
  Quantity p50;
  Quantity p95;
  Quantity p99;
};

struct GapShares {
  Quantity p50;
  Quantity p99;
};

/// What this program took, the highest of the launches.
struct Client {
  Known<double> cpu_share;  ///< of one core
  Known<double> lag_p50_s;
  Known<double> lag_p99_s;
  Known<double> lag_max_s;
  Known<std::string> bottleneck;  ///< why no rate or latency is given; not known: it kept up
};

/// One arm at one level of concurrency or one rate, its launches together.
struct Load {
  std::string arm;
  std::string loop;          ///< "closed" or "open"
  Known<int> concurrency;    ///< requests kept in flight, of closed loops
  Known<double> rate_per_s;  ///< requests due per second, of open loops
  int launches = 0;
  int requests_planned = 0;
  int requests_done = 0;
  int requests_failed = 0;
  int requests_cancelled = 0;
  Quantity tokens_per_s;  ///< in the steady window
  Quantity window_s;
  std::string tokens_rule;
  Quantity cell_tokens_per_s;  ///< over the whole cell: the product of the next three
  Quantity forwards_per_s;
  Quantity sequences_per_forward;
  Quantity tokens_per_sequence_pass;
  Known<long> forwards;
  Known<long> sequence_passes;
  Known<long> prefill_tokens;
  Known<long> prefill_cached;
  Known<long> residual_passes;
  Known<long> residual_tokens;
  Quantity experienced_passes_per_s;
  LatencyShares ttft_s;
  GapShares inter_burst_s;
  Client client;
};

struct CrossoverLevel {
  int concurrency = 0;
  Quantity ratio;
  std::string verdict;
};

/// The concurrency at which an arm's speculation stops paying.
struct CrossoverConcurrency {
  std::string arm;
  Known<int> concurrency;
  std::string says;
  std::vector<CrossoverLevel> levels;
};

}  // namespace paceline::document
