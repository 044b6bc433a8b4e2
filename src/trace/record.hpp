#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "trace/trace.hpp"
#include "util/result.hpp"

namespace paceline::trace {

/// The last record of a run that was not cut off.
struct End {
  bool interrupted = false;  ///< by the user
};

/// What one record tells; an Outcome is how a launch ended.
using Content = std::variant<Header, About, Launch, Request, WidthTime, MemoryReading, LoadCell,
                             FilledDepth, Rereading, DraftMap, Outcome, Resumption, End>;

/// One line of a trace, in order of time.
struct Record {
  int launch = 0;  ///< index of the launch that it belongs to, where it belongs to one
  Content content;
};

/// Its JSON, without a newline.
std::string line_of(const Record& record);

/// The record in a line from anywhere; `where` names it in the error.
util::Result<Record> read_record(std::string_view line, std::string_view where);

/// The study's id in the line of a header, which may be wrong in every other way and then "";
/// absent: it is no header.
std::optional<std::string> header_id(std::string_view line);

/// Makes a trace of records in their order.
class TraceBuilder {
 public:
  /// An error when the record cannot stand there.
  util::Result<void> take(Record record);

  /// The trace so far, marked as interrupted unless its end was among the records; an error when
  /// there was no header.
  util::Result<Trace> finish();

  /// What there is so far.
  const Trace& trace() const { return trace_; }

  /// Launches so far that ended, and not because the user stopped the run, from the first on.
  int launches_done() const;

 private:
  util::Result<void> take_part(Record record);
  util::Result<void> resume(const Resumption& resumption);

  /// What the launches so far must be held against.
  struct Progress {
    bool ended = false;
    std::set<std::string> requests;  ///< that were measured, by what they asked and when
  };
  Trace trace_;
  std::vector<Progress> progress_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace paceline::trace
