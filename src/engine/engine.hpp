#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "protocol/job.hpp"
#include "trace/event.hpp"
#include "util/result.hpp"

namespace paceline::engine {

using TimePoint = std::chrono::steady_clock::time_point;
using JobId = std::uint32_t;

/// What an engine can do beside generating. What it cannot is unknown in the report, never zero.
struct Capabilities {
  bool probes_widths = false;      ///< times passes of a given width (protocol::Probe)
  bool rereads = false;            ///< reads known texts again, for logits (protocol::Reread)
  bool fills_context = false;      ///< keeps a text below other requests (protocol::Fill)
  bool outlives_failures = false;  ///< a request that failed or timed out ends no launch
  int jobs_at_once = 1;            ///< jobs that may run together
  bool is_local = false;           ///< runs in processes of this machine, of one process group
};

struct TaggedEvent {
  JobId job = 0;
  trace::Event event;
};

/// What an engine says of itself between jobs.
struct Snapshot {
  std::map<std::string, double> counters;  ///< by the engine's own names; empty: none could be read
  std::optional<double> client_cpu_s;      ///< CPU that this process spent on its jobs so far
  /// How late this process looked at what had arrived, since the last observation.
  std::optional<double> lag_p50_s;
  std::optional<double> lag_p99_s;
  std::optional<double> lag_max_s;
};

/// The seam between a study and the thing measured. As many jobs run at a time as it can.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual Capabilities capabilities() const = 0;

  /// Loads; says what really runs, or how the launch failed.
  virtual tl::expected<trace::EngineFacts, trace::Outcome> open(
      const trace::Setup& setup, const trace::Sampling& sampling) = 0;

  /// Starts a job; it is ended and recorded as timed out when it says nothing for `patience`.
  virtual util::Result<JobId> submit(const protocol::Job& job, std::chrono::seconds patience) = 0;

  /// Likewise a job that is part of a load: it was due at `due`, from which its latency counts, and
  /// nothing is asked of the engine around it.
  virtual util::Result<JobId> submit_in_load(const protocol::Job& job,
                                             std::chrono::seconds patience, TimePoint /*due*/) {
    return submit(job, patience);
  }

  /// Waits for the next event until `until`; nothing on a time-out. Every job ends with one
  /// Finished, also when the engine dies.
  virtual std::optional<TaggedEvent> next(TimePoint until) = 0;

  /// Asks the running job to stop; its Finished says cancelled.
  virtual void cancel(JobId job) = 0;

  /// Counters and what the jobs cost this process; nothing when the engine has neither.
  virtual util::Result<Snapshot> observe() { return Snapshot{}; }
  /// Its processes, so that their memory can be read from outside; nothing while none runs.
  virtual std::optional<pid_t> process_group() const { return std::nullopt; }

  /// Ends the launch and frees everything. Safe to call twice.
  virtual void close() = 0;
};

/// A fresh engine to run an arm on.
using EngineFactory = std::function<std::unique_ptr<Engine>(const trace::Arm& arm)>;

}  // namespace paceline::engine
