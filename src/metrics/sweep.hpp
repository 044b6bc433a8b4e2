#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/estimate.hpp"
#include "trace/trace.hpp"

namespace paceline::metrics {

/// One point of a sweep. Its speed is that of the mix; the other figures are of the same prompts
/// and launches, so that tokens/s = passes/s x tokens/pass. A point without a figure has a reason.
struct SweepCell {
  std::string arm;
  int launches = 0;
  std::optional<int> left_out_after;  ///< round (from 0) after which it was left out as slower
  Estimate tokens_per_s;              ///< interval: of all points together
  std::optional<double> passes_per_s;
  std::optional<double> tokens_per_pass;
  std::optional<double> acceptance;  ///< pooled; absent: nothing was offered
  std::optional<double> draft_per_pass;
  Estimate speedup;       ///< over its own plain arm, likewise
  Estimate against_best;  ///< over the best of the other points, likewise
  bool in_best_set = false;
};

/// One row of the acceptance-against-throughput table.
struct DraftLengthCell {
  std::string group;  ///< what its rows have in common beside others; empty: there are no others
  int draft_length = 0;
  std::size_t cell = 0;  ///< index into the cells
};

/// The winner and its plain arm on prompts that nothing was chosen by. Each figure is of the mix.
struct HeldOut {
  std::string arm;
  int prompts = 0;
  int launches = 0;
  Estimate tokens_per_s;
  Estimate passes_per_s;
  Estimate tokens_per_pass;
  Estimate speedup;
};

struct SweepSummary {
  std::vector<SweepCell> cells;  ///< in the order of the points
  std::string best;              ///< arm with the highest speed; empty: no point has one
  std::string no_set;            ///< why no set of the best is given; empty where it is
  std::vector<DraftLengthCell> draft_lengths;
  std::vector<std::string> findings;  ///< what a reader of those rows has to know
  std::optional<HeldOut> held_out;
  std::string no_held_out;  ///< why it is absent
};

/// The figures of a sweep; nothing when the run is none.
std::optional<SweepSummary> summarise_sweep(const trace::Trace& trace, const trace::Mix& mix);

/// Tokens per second of an arm on the mix, over all its launches so far; nothing without a figure.
std::optional<double> mix_speed(const trace::Trace& trace, std::string_view arm,
                                const trace::Mix& mix);

/// The launches on held-out prompts as a run of their own.
trace::Trace held_out_part(const trace::Trace& trace);

}  // namespace paceline::metrics
