#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "study/plan.hpp"
#include "trace/load.hpp"

// Many requests at once: what is sent and when is fixed before the run.

namespace paceline::study {

/// One request to come.
struct PlannedRequest {
  std::size_t prompt = 0;           ///< index into RunOptions::prompts.measured
  int repetition = 0;               ///< 0, 1, .. where prompts are fewer than requests
  std::chrono::nanoseconds due{0};  ///< after the cell's beginning; of open loops only
};

/// The requests of one level of concurrency or one rate, in the order in which they are sent.
struct PlannedCell {
  trace::LoadLoop loop = trace::LoadLoop::closed;
  int level = 0;
  double rate_per_s = 0;
  std::vector<PlannedRequest> requests;
};

/// Requests of a cell: what was asked for, else every prompt once and at least two a place of a
/// closed loop (`level` is 0 for an open one).
int requests_of_cell(const LoadOptions& loads, int level, std::size_t prompts);

/// The cells of a round in their order, the same for all its arms. Over the rounds every cell
/// stands at every place as equally often as their number allows. Arrivals of open loops are a
/// Poisson process: gaps are exponential, drawn anew for every round.
std::vector<PlannedCell> plan_loads(const RunOptions& options, int round);

/// "4 requests at once", or "2.5 requests/s".
std::string cell_name(const PlannedCell& cell);

/// What a cell needs from the run around it.
struct LoadSurroundings {
  std::function<protocol::Generate(const PlannedRequest&)> job;
  std::chrono::seconds patience{600};
  std::function<bool()> stop_asked;
  std::function<engine::TimePoint()> now = [] { return std::chrono::steady_clock::now(); };
};

/// Runs a cell to its end: a closed loop sends the next request when one ends, an open loop when
/// it is due, as far as the engine takes so many. When the user stops, what runs is cancelled and
/// recorded so, and the rest is not sent; nor is it after the engine died or failed very often in
/// a row. Requests are as the engine told them, without their prompts' names.
trace::LoadCell run_load(engine::Engine& engine, const PlannedCell& planned,
                         const LoadSurroundings& surroundings);

}  // namespace paceline::study
