#pragma once

#include <chrono>
#include <cstdint>

#include "worker/job_port.hpp"

namespace paceline::worker {

/// Tells how much of a file is written, at most once a second, and hears when it is to end.
class WriteProgress {
 public:
  explicit WriteProgress(JobPort& port) : port_(port), told_(Clock::now()) {}

  /// So many more bytes are written; false once the job is cancelled.
  bool add(std::uint64_t bytes);

  bool cancelled() const { return cancelled_; }

 private:
  using Clock = std::chrono::steady_clock;

  JobPort& port_;
  Clock::time_point told_;
  std::uint64_t bytes_ = 0;
  bool cancelled_ = false;
};

}  // namespace paceline::worker
