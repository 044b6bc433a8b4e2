#pragma once

#include <memory>
#include <optional>

#include "cli/measure.hpp"
#include "store/store.hpp"
#include "store/study_journal.hpp"
#include "trace/trace_file.hpp"

namespace paceline::cli {

/// A study while it is made: its trace so far, taken down in the store and in the file of --trace
/// where one is named.
class Recording final : public trace::Journal {
 public:
  /// Begins a study of that plan, or goes on with the one of --resume, which must be of the same
  /// plan and stand on the same things.
  static util::Result<std::unique_ptr<Recording>> open(const study::RunOptions& options,
                                                       const Output& output);

  trace::Trace& trace() { return trace_; }

  util::Result<void> take(const trace::Record& record) override;

 private:
  explicit Recording(store::Store store) : store_(std::move(store)) {}
  util::Result<void> begin_anew(const study::RunOptions& options, const Output& output);
  util::Result<void> go_on(const study::RunOptions& options, const Output& output);

  store::Store store_;
  trace::Trace trace_;
  std::optional<store::StudyJournal> journal_;
  std::unique_ptr<trace::TraceFile> file_;
};

}  // namespace paceline::cli
