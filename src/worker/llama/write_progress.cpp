#include "worker/llama/write_progress.hpp"

namespace paceline::worker {

bool WriteProgress::add(std::uint64_t bytes) {
  bytes_ += bytes;
  cancelled_ = cancelled_ || port_.cancelled();
  const auto now = Clock::now();
  if (now - told_ >= std::chrono::seconds(1)) {
    told_ = now;
    port_.say(trace::Progress{.bytes = bytes_});
  }
  return !cancelled_;
}

}  // namespace paceline::worker
