#pragma once

#include <chrono>

#include "worker/job_port.hpp"

namespace paceline::worker {

/// A running job's signs of life, at most one a second, and whether it is to end.
class Heartbeat {
 public:
  explicit Heartbeat(JobPort& port) : port_(port), said_(Clock::now()) {}

  /// Says `progress` when it is time to; true once the parent asked for an end.
  bool interrupted(const trace::Progress& progress = {}) {
    const Clock::time_point now = Clock::now();
    if (now - said_ > std::chrono::seconds(1)) {
      said_ = now;
      port_.say(progress);
    }
    cancelled_ = cancelled_ || port_.cancelled();
    return cancelled_;
  }

  /// As it was heard last.
  bool cancelled() const { return cancelled_; }

 private:
  using Clock = std::chrono::steady_clock;

  JobPort& port_;
  Clock::time_point said_;
  bool cancelled_ = false;
};

}  // namespace paceline::worker
