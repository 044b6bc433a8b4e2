#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "trace/journal.hpp"

namespace paceline::trace {

/// Refuses a path at which there is something, an empty file apart.
util::Result<void> check_new(const std::filesystem::path& path);

/// A trace as JSON lines, one record each, flushed as they come:
///
///   {"record": "header", "format": 8, "value": Header}
///   {"record": "about", "value": About}                        older versions wrote none
///   {"record": "launch", "value": Launch}                      without what comes below
///   {"record": "request", "launch": index, "value": Request}
///   {"record": "width", "launch": index, "value": WidthTime}
///   {"record": "memory", "launch": index, "value": MemoryReading}
///   {"record": "load", "launch": index, "value": LoadCell}
///   {"record": "fill", "launch": index, "value": FilledDepth}
///   {"record": "rereading", "launch": index, "value": Rereading}
///   {"record": "draft_map", "launch": index, "value": DraftMap}
///   {"record": "launch_end", "launch": index, "value": Outcome}
///   {"record": "resumed", "value": Resumption}                 launches past those kept are void
///   {"record": "end", "interrupted": bool}
class TraceFile final : public Journal {
 public:
  /// Creates `path` with its folders; a file with anything in it is not overwritten.
  static util::Result<std::unique_ptr<TraceFile>> create(const std::filesystem::path& path);

  /// Goes on behind `written`, the lines of the same run so far, which replace what is there.
  static util::Result<std::unique_ptr<TraceFile>> go_on(const std::filesystem::path& path,
                                                        std::string_view written);

  util::Result<void> take(const Record& record) override;

 private:
  TraceFile(std::filesystem::path path, std::ios::openmode mode);
  static util::Result<std::unique_ptr<TraceFile>> open(const std::filesystem::path& path,
                                                       std::ios::openmode mode);
  std::filesystem::path path_;
  std::ofstream file_;
};

/// The run in a trace file's text. A text that ends anywhere, in a line too, gives what came
/// before, marked as interrupted; anything else that is wrong is an error with its line number.
util::Result<Trace> read_trace(std::string_view text);

}  // namespace paceline::trace
