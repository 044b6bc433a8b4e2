#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/estimate.hpp"
#include "metrics/sample.hpp"
#include "trace/trace.hpp"

namespace paceline::metrics {

struct ClassSummary;
struct WidthCurve;

/// Seconds of a mean pass by what they are spent on. They add up to the pass.
struct PassTerms {
  double reading_s = 0;    ///< the target's bytes at the measured bandwidth, gathered rows apart;
                           ///< 0 where caches may hold them
  double gathering_s = 0;  ///< rows read in random order from tables that no cache holds, and pages
                           ///< of them that had to come from disk
  double computing_s = 0;  ///< the rest of the target's decode call, by passes timed alone
  double drafting_s = 0;   ///< drafts and what the drafter takes in, likewise
  double host_s = 0;       ///< the rest of the pass: sampling, accepting, going back

  /// What most of it is spent on, as in "bandwidth-bound"; "unclear" where the largest leads by
  /// less than another is below zero.
  std::string bound;
};

/// How near an arm comes on one class to what the memory permits (DEFINITIONS 8).
struct Ceiling {
  Estimate share;             ///< ceiling seconds over measured seconds
  Estimate read_bytes_per_s;  ///< bytes that the passes read, over the time they took
  Estimate bandwidth;         ///< read, best sample of a launch, by the launch's own threads
  double bytes_per_pass = 0;  ///< mean
  std::vector<std::pair<std::string, double>> largest;  ///< classes that most of them are of, mean
                                                        ///< bytes a pass, at most three
  bool has_model = false;        ///< some of them suppose that routers pick experts evenly
  Estimate disk_pages_per_pass;  ///< that the engine's process had to fetch while they ran; mean
  std::optional<PassTerms> terms;
  std::string no_terms;  ///< why they are not known
};

/// The ceiling of one class on one arm, whose rates are filled in. `curves` are the run's.
Ceiling ceiling_of(const ClassSummary& summary, const Sample& sample, const trace::Trace& trace,
                   const trace::Arm& arm, const std::vector<WidthCurve>& curves);

/// A sentence when the speed is above the ceiling with certainty, which cannot be; empty else.
std::string find_ceiling_contradiction(const std::string& arm, const ClassSummary& summary);

}  // namespace paceline::metrics
