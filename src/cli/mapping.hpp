#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/measure.hpp"
#include "study/mapping.hpp"
#include "study/plan.hpp"
#include "trace/trace.hpp"

// What tune and predict share: a map of texts from settings, and the arms that it speaks of.

namespace paceline::cli {

/// What a map is asked beside what a run is.
struct MapOptionsSource {
  std::vector<double> p_mins;
  int rounds = 0;  ///< launches that passes are timed in
};

/// Gives arms the longest drafts to ask for, and the names of their drafters; refuses those that
/// cannot be mapped.
util::Result<void> prepare_arms(std::vector<trace::Arm>& arms);

/// A map of texts that plain writes behind a run's prompts.
study::MapOptions map_options(const study::RunOptions& run, const MapOptionsSource& source);

/// Says what is going to be mapped and timed.
void describe(const study::MapOptions& options, std::size_t fresh_prompts);

/// What takes a study down as far as it goes before it is told to stop.
using MakeStudy = std::function<util::Result<void>(trace::Journal&, const study::Watcher&,
                                                   const study::StopAsked&, trace::Trace&)>;

/// One of the studies that a command makes, with progress on standard error, unless it is complete
/// in the store already. `what` it is begins the sentence that says where it is stored.
util::Result<trace::Trace> make_part(const study::RunOptions& run, const Output& output,
                                     const std::string& what, const MakeStudy& make);

/// Maps into a study of its own that is kept as `run` says.
util::Result<trace::Trace> make_map(const study::MapOptions& options, study::RunOptions run,
                                    const Output& output, const engine::EngineFactory& make_engine);

/// The first failure of a launch or a request that left nothing to say.
util::Result<void> check_mapped(const trace::Trace& map);

/// Equal shares of its classes.
trace::Mix equal_mix(const trace::Trace& map);

/// Plain and every way of drafting that the map speaks of, as arms to be run.
std::vector<trace::Arm> all_arms(const trace::Trace& map);

/// Plain, one of those, and the next shorter and longer drafts of the same drafter.
std::vector<trace::Arm> arms_near(const trace::Trace& map, const std::string& arm);

}  // namespace paceline::cli
