#include "study/writing.hpp"

#include "study/collect.hpp"

namespace paceline::study {

namespace {
constexpr auto patience = std::chrono::minutes(10);  // with a disk that does not answer
}

util::Result<void> write_model(engine::Engine& engine, const protocol::Job& job,
                               const std::function<void(std::uint64_t)>& heard,
                               const std::function<bool()>& stop_asked) {
  const auto told = [&](const trace::Progress& progress) { heard(progress.bytes); };
  const auto outcome = collect(engine, job, patience, stop_asked, told).request.outcome;
  if (outcome.kind == trace::OutcomeKind::done) return {};
  return util::fail(util::ErrorKind::engine, outcome.reason);
}

}  // namespace paceline::study
