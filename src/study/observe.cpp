#include "study/observe.hpp"

#include "study/collect.hpp"

namespace paceline::study {

namespace {
constexpr auto patience = std::chrono::minutes(30);  // a large model is loaded without a word
}

util::Result<trace::Observation> observe(engine::Engine& engine, const protocol::Observe& job,
                                         const std::function<bool()>& stop_asked) {
  const Collected collected = collect(engine, job, patience, stop_asked);
  if (collected.request.outcome.kind != trace::OutcomeKind::done)
    return util::fail(util::ErrorKind::engine, collected.request.outcome.reason);
  if (!collected.observation)
    return util::fail(util::ErrorKind::internal, "the engine ended without an answer");
  return *collected.observation;
}

}  // namespace paceline::study
