#pragma once

#include <cstdint>
#include <variant>

#include "trace/observation.hpp"
#include "trace/trace.hpp"

namespace paceline::trace {

/// Still alive, at most once a second.
struct Progress {
  int tokens = 0;           ///< emitted so far by the running job
  std::uint64_t bytes = 0;  ///< written so far by a job that writes a file
};

/// The last event of a job, always sent, also when the engine died.
struct Finished {
  Outcome outcome;
  StopReason stop = StopReason::none;
  bool eos_counted = true;
  std::string text;
  std::optional<long> disk_pages = {};  ///< as in Request
};

/// What a server said of a job in the end; comes before its Finished.
struct Answered {
  std::vector<Chunk> chunks;
  Answer answer;
};

/// What an engine says while a job runs, in the order it happened. Prefill, Pass and Emission
/// may arrive after the timed window, all at once.
using Event =
    std::variant<Progress, Prefill, Pass, Emission, WidthTime, Rereading, Fill, model::FileFacts,
                 Devices, Answered, Finished, Observation, DeviceSpeeds, DraftMap>;

}  // namespace paceline::trace
