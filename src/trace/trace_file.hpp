#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "trace/journal.hpp"

namespace paceline::trace {

/// A trace as JSON lines, one record each, flushed as they come:
///
///   {"record": "header", "format": 7, "value": Header}
///   {"record": "launch", "value": Launch}                      without what comes below
///   {"record": "request", "launch": index, "value": Request}
///   {"record": "width", "launch": index, "value": WidthTime}
///   {"record": "memory", "launch": index, "value": MemoryReading}
///   {"record": "load", "launch": index, "value": LoadCell}
///   {"record": "fill", "launch": index, "value": FilledDepth}
///   {"record": "rereading", "launch": index, "value": Rereading}
///   {"record": "draft_map", "launch": index, "value": DraftMap}
///   {"record": "launch_end", "launch": index, "value": Outcome}
///   {"record": "end", "interrupted": bool}
class TraceFile final : public Journal {
 public:
  /// Creates `path` with its folders; an existing file is not overwritten.
  static util::Result<std::unique_ptr<TraceFile>> create(const std::filesystem::path& path);

  util::Result<void> begin(const Header& header) override;
  util::Result<void> launch(const Launch& launch) override;
  util::Result<void> request(int launch_index, const Request& request) override;
  util::Result<void> width(int launch_index, const WidthTime& width) override;
  util::Result<void> memory(int launch_index, const MemoryReading& reading) override;
  util::Result<void> load(int launch_index, const LoadCell& cell) override;
  util::Result<void> fill(int launch_index, const FilledDepth& filled) override;
  util::Result<void> rereading(int launch_index, const Rereading& rereading) override;
  util::Result<void> draft_map(int launch_index, const DraftMap& map) override;
  util::Result<void> launch_end(int launch_index, const Outcome& outcome) override;
  util::Result<void> end(bool interrupted) override;

 private:
  explicit TraceFile(std::filesystem::path path);
  util::Result<void> line(const std::string& text);

  std::filesystem::path path_;
  std::ofstream file_;
};

/// The run in a trace file's text. A text that ends anywhere, in a line too, gives what came
/// before, marked as interrupted; anything else that is wrong is an error with its line number.
util::Result<Trace> read_trace(std::string_view text);

}  // namespace paceline::trace
