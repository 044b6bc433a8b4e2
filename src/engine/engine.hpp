#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "util/result.hpp"

namespace paceline::engine {

using TimePoint = std::chrono::steady_clock::time_point;
using JobId = std::uint32_t;

/// What an engine can do beside generating. What it cannot is unknown in the report, never zero.
struct Capabilities {
  bool probes_widths = false;  ///< times passes of a given width (protocol::Probe)
  bool is_local = false;       ///< runs in processes of this machine, of one process group
};

struct TaggedEvent {
  JobId job = 0;
  trace::Event event;
};

/// The seam between a study and the thing measured. One job runs at a time.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual Capabilities capabilities() const = 0;

  /// Loads; says what really runs, or how the launch failed.
  virtual tl::expected<trace::EngineFacts, trace::Outcome> open(
      const trace::Setup& setup, const trace::Sampling& sampling) = 0;

  /// Starts a job; it is ended and recorded as timed out when it says nothing for `patience`.
  virtual util::Result<JobId> submit(const protocol::Job& job, std::chrono::seconds patience) = 0;

  /// Waits for the next event until `until`; nothing on a time-out. Every job ends with one
  /// Finished, also when the engine dies.
  virtual std::optional<TaggedEvent> next(TimePoint until) = 0;

  /// Asks the running job to stop; its Finished says cancelled.
  virtual void cancel(JobId job) = 0;

  /// Its processes, so that their memory can be read from outside; nothing while none runs.
  virtual std::optional<pid_t> process_group() const { return std::nullopt; }

  /// Ends the launch and frees everything. Safe to call twice.
  virtual void close() = 0;
};

using EngineFactory = std::function<std::unique_ptr<Engine>()>;

}  // namespace paceline::engine
