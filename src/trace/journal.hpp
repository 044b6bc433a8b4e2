#pragma once

#include "trace/record.hpp"
#include "util/result.hpp"

namespace paceline::trace {

/// Takes down a run while it happens, so that nothing is lost when it is cut off.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual util::Result<void> take(const Record& record) = 0;

  /// A study begins, or goes on where its trace says so.
  util::Result<void> begin(const Trace& trace) {
    if (!trace.resumptions.empty()) return resumed(trace.resumptions.back());
    PACELINE_TRY(begin(trace.header));
    return trace.about ? about(*trace.about) : util::Result<void>{};
  }
  util::Result<void> begin(const Header& header) { return take({0, header}); }
  util::Result<void> about(const About& about) { return take({0, about}); }
  /// A launch opened, or failed to: its facts and outcome, no requests yet.
  util::Result<void> launch(const Launch& launch) { return take({launch.index, launch}); }
  util::Result<void> request(int launch, const Request& request) { return take({launch, request}); }
  util::Result<void> width(int launch, const WidthTime& width) { return take({launch, width}); }
  util::Result<void> memory(int launch, const MemoryReading& reading) {
    return take({launch, reading});
  }
  /// A cell of load, once it is over.
  util::Result<void> load(int launch, const LoadCell& cell) { return take({launch, cell}); }
  /// A depth that was reached, or was not.
  util::Result<void> fill(int launch, const FilledDepth& filled) { return take({launch, filled}); }
  util::Result<void> rereading(int launch, const Rereading& reread) {
    return take({launch, reread});
  }
  util::Result<void> draft_map(int launch, const DraftMap& map) { return take({launch, map}); }
  /// How the launch ended.
  util::Result<void> launch_end(int launch, const Outcome& outcome) {
    return take({launch, outcome});
  }
  util::Result<void> resumed(const Resumption& resumption) { return take({0, resumption}); }
  util::Result<void> end(bool interrupted) { return take({0, End{interrupted}}); }
};

}  // namespace paceline::trace
