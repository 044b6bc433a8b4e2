#include "cli/pilot.hpp"

#include <algorithm>
#include <chrono>

#include "study/run.hpp"
#include "util/interrupt.hpp"

namespace paceline::cli {

namespace {

constexpr std::size_t pilot_prompts = 3;
constexpr int most_rounds = 1000;

/// Keeps nothing: the pilot is no part of the study.
class NoJournal final : public trace::Journal {
 public:
  util::Result<void> take(const trace::Record&) override { return {}; }
};

double seconds_of(const trace::Request& request) {
  if (request.answer)
    return static_cast<double>(request.answer->timeline.ended_ns -
                               request.answer->timeline.sent_ns) /
           1e9;
  if (request.emissions.empty()) return 0;
  return static_cast<double>(request.emissions.back().at_ns - request.prefill.began_ns) / 1e9;
}

}  // namespace

util::Result<Pilot> pilot(const study::RunOptions& options,
                          const engine::EngineFactory& make_engine) {
  study::RunOptions few = options;
  few.rounds = 1;
  few.is_enough = nullptr;
  auto& prompts = few.prompts.measured;
  const std::size_t all = prompts.size();
  prompts.resize(std::min(all, pilot_prompts));
  trace::Trace trace;
  trace.header.arms = few.arms;
  trace.header.rounds = 1;
  NoJournal journal;
  const auto began = std::chrono::steady_clock::now();
  PACELINE_TRY(study::run(
      few, make_engine, journal, [](double, double, const std::string&) {}, util::interrupted,
      trace));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  double requests = 0;
  for (const auto& launch : trace.launches) {
    if (launch.outcome.kind != trace::OutcomeKind::done)
      return util::fail(
          util::ErrorKind::engine,
          "the arm " + launch.arm + " could not be measured: " + launch.outcome.reason);
    for (const auto& request : launch.requests)
      if (!request.warm_up) requests += seconds_of(request);
  }
  const double times = static_cast<double>(all) / static_cast<double>(prompts.size());
  return Pilot{took.count(), took.count() + requests * (times - 1)};
}

int rounds_within(double budget_s, const Pilot& pilot) {
  const double rounds = (budget_s - pilot.took_s) / pilot.round_s;
  return static_cast<int>(std::clamp(rounds, 1.0, static_cast<double>(most_rounds)));
}

}  // namespace paceline::cli
