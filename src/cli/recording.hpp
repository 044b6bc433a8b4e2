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
  /// plan, stand on the same things and not be complete.
  static util::Result<std::unique_ptr<Recording>> open(const study::RunOptions& options,
                                                       const Output& output);

  /// The same of one of several studies that a command makes: it is begun under the id of --resume
  /// where there is none of it, and read where it is complete.
  static util::Result<std::unique_ptr<Recording>> open_part(const study::RunOptions& options,
                                                            const Output& output);

  /// It was complete already, and nothing more is to be taken down.
  bool is_whole() const { return is_whole_; }

  trace::Trace& trace() { return trace_; }

  util::Result<void> take(const trace::Record& record) override;

 private:
  explicit Recording(store::Store store) : store_(std::move(store)) {}
  util::Result<void> begin_anew(const study::RunOptions& options, const Output& output,
                                const std::string& id);
  util::Result<void> go_on(const study::RunOptions& options, const Output& output,
                           const store::StudyRow& study);

  store::Store store_;
  trace::Trace trace_;
  bool is_whole_ = false;
  std::optional<store::StudyJournal> journal_;
  std::unique_ptr<trace::TraceFile> file_;
};

}  // namespace paceline::cli
