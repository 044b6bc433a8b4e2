#pragma once

#include <cstdint>

#include "worker/heartbeat.hpp"

namespace paceline::worker {

/// Tells how much of a file is written, at most once a second, and hears when it is to end.
class WriteProgress {
 public:
  explicit WriteProgress(JobPort& port) : heartbeat_(port) {}

  /// So many more bytes are written; false once the job is cancelled.
  bool add(std::uint64_t bytes) {
    bytes_ += bytes;
    return !heartbeat_.interrupted(trace::Progress{.bytes = bytes_});
  }

  bool cancelled() const { return heartbeat_.cancelled(); }

 private:
  Heartbeat heartbeat_;
  std::uint64_t bytes_ = 0;
};

}  // namespace paceline::worker
