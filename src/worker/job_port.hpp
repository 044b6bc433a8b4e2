#pragma once

#include <string>
#include <utility>

#include "trace/event.hpp"

namespace paceline::worker {

/// What a running job may say and hear. The session implements it over the pipe, tests over memory.
class JobPort {
 public:
  virtual ~JobPort() = default;

  /// Sends one event of the running job. Never called inside the timed window, except Progress.
  virtual void say(trace::Event event) = 0;

  /// True once the parent asked for an end; looks without waiting.
  virtual bool cancelled() = 0;
};

/// The last event of a job that did not run to its end.
inline trace::Finished finished(trace::OutcomeKind kind, std::string reason) {
  trace::Finished finished;
  finished.outcome = trace::ended(kind, std::move(reason));
  return finished;
}

inline trace::Finished refused(std::string reason) {
  return finished(trace::OutcomeKind::refused, std::move(reason));
}

}  // namespace paceline::worker
