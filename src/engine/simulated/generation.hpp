#pragma once

#include <vector>

#include "engine/simulated/truth.hpp"
#include "protocol/job.hpp"
#include "trace/event.hpp"

namespace paceline::engine::simulated {

/// Where and as what a job runs.
struct Site {
  trace::Setup setup;
  int launch = 0;
  int job = 0;
  int filled = 0;  ///< tokens of text in the context, below what is asked for on top of it
};

/// The longest draft of a setup in tokens, the drafter's own longest where the setup says 0; 0
/// without a drafter.
int longest_draft(const Truth& truth, const trace::Setup& setup);

/// Every event of a generation up to its Finished, as the worker would send them: Progress once a
/// second, then Prefill, then passes and emissions in order. `now` is the engine's clock, and is
/// moved on by as long as the job takes.
std::vector<trace::Event> generate(const Truth& truth, const Site& site,
                                   const protocol::Generate& job, trace::Nanoseconds& now);

/// Every event of a probe: a WidthTime a width, then Finished.
std::vector<trace::Event> probe(const Truth& truth, const Site& site, const protocol::Probe& job,
                                trace::Nanoseconds& now);

/// Every event of filling the context up to a depth: one Fill, then Finished.
std::vector<trace::Event> fill(const Truth& truth, const Site& site, const protocol::Fill& job,
                               trace::Nanoseconds& now);

/// Every event of reading texts again: one Rereading, then Finished.
std::vector<trace::Event> reread(const Truth& truth, const Site& site, const protocol::Reread& job);

}  // namespace paceline::engine::simulated
