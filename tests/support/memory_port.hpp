#pragma once

#include <utility>
#include <vector>

#include "worker/job_port.hpp"

namespace paceline::support {

/// A job's port that keeps what was said, and cancels when it is told to.
class MemoryPort : public worker::JobPort {
 public:
  void say(trace::Event event) override { events.push_back(std::move(event)); }
  bool cancelled() override { return ++looks > cancel_after; }

  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const auto& event : events)
      if (const auto* one = std::get_if<Kind>(&event)) found.push_back(*one);
    return found;
  }

  std::vector<trace::Event> events;
  int looks = 0;
  int cancel_after = 1'000'000'000;  ///< looks answered with no before the first yes
};

}  // namespace paceline::support
