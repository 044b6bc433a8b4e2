#pragma once

#include "trace/trace.hpp"
#include "util/result.hpp"

namespace paceline::trace {

/// Takes down a run while it happens, so that nothing is lost when it is cut off.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual util::Result<void> begin(const Header& header) = 0;
  /// A launch opened, or failed to: its facts and outcome, no requests yet.
  virtual util::Result<void> launch(const Launch& launch) = 0;
  virtual util::Result<void> request(int launch_index, const Request& request) = 0;
  virtual util::Result<void> width(int launch_index, const WidthTime& width) = 0;
  virtual util::Result<void> memory(int launch_index, const MemoryReading& reading) = 0;
  /// A cell of load, once it is over.
  virtual util::Result<void> load(int launch_index, const LoadCell& cell) = 0;
  /// A depth that was reached, or was not.
  virtual util::Result<void> fill(int launch_index, const FilledDepth& filled) = 0;
  virtual util::Result<void> rereading(int launch_index, const Rereading& rereading) = 0;
  virtual util::Result<void> draft_map(int launch_index, const DraftMap& map) = 0;
  /// How the launch ended.
  virtual util::Result<void> launch_end(int launch_index, const Outcome& outcome) = 0;
  virtual util::Result<void> end(bool interrupted) = 0;
};

}  // namespace paceline::trace
