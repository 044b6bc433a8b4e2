#pragma once

#include <functional>
#include <string>

#include "engine/engine.hpp"
#include "study/plan.hpp"
#include "trace/journal.hpp"
#include "trace/trace.hpp"

namespace paceline::study {

/// How far a run is, for showing it to people. Called between requests, never inside one.
using Watcher = std::function<void(double done, double total, const std::string& what)>;

/// Whether the user asked to stop.
using StopAsked = std::function<bool()>;

/// Measures every planned launch into `trace`, whose header is filled already, taking down each
/// record as it comes. A run that was cut off goes on: with a last resumption, and behind the
/// launches that are in `trace`. A launch that fails is a record and the run goes on; an error
/// means that the journal itself failed, and `trace` still has what was measured before.
util::Result<void> run(const RunOptions& options, const engine::EngineFactory& make_engine,
                       trace::Journal& journal, const Watcher& watcher, const StopAsked& stop_asked,
                       trace::Trace& trace);

}  // namespace paceline::study
