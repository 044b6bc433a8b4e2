#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/request.hpp"
#include "worker/job_port.hpp"

namespace paceline::worker {

/// What one request's decode window left behind. Room is made beforehand, so that writing a
/// record costs no allocation; the events are built and sent after the window.
class Recording {
 public:
  /// Room for `tokens` emitted tokens and `passes` passes of at most `longest_draft` offered tokens
  /// each (0: draft ids are not kept). More still fits, at the price of an allocation.
  Recording(std::size_t tokens, std::size_t passes, std::size_t longest_draft, bool keep_gaps);

  /// Passes recorded so far, which is the next pass's index.
  int passes() const { return static_cast<int>(passes_.size()); }

  /// Tokens emitted so far.
  int tokens() const { return static_cast<int>(tokens_.size()); }

  /// Keeps a pass whose decode call is done; `offered` are its draft ids.
  trace::Pass& add(trace::Pass pass, std::span<const std::int32_t> offered);

  /// An earlier pass, to mark what only later passes show.
  trace::Pass& pass(int index) { return passes_[static_cast<std::size_t>(index)]; }

  /// Keeps the tokens that became output together; `emission.tokens` stays empty until flush.
  void emit(trace::Emission emission, std::span<const std::int32_t> tokens);

  /// Keeps the top-2 logit gap of the next emitted token that has none yet.
  void add_gap(double gap) { gaps_.push_back(gap); }

  /// All emitted token ids, in order.
  std::span<const std::int32_t> emitted() const { return tokens_; }

  trace::Prefill prefill;

  /// Sends Prefill, then every pass before the emission it led to.
  void flush(JobPort& port) const;

 private:
  struct Slice {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  void send_pass(std::size_t index, JobPort& port) const;
  void send_emission(std::size_t index, JobPort& port) const;

  bool keep_drafts_;
  bool keep_gaps_;
  std::vector<trace::Pass> passes_;
  std::vector<Slice> drafts_;
  std::vector<std::int32_t> draft_ids_;
  std::vector<trace::Emission> emissions_;
  std::vector<Slice> emitted_;
  std::vector<std::int32_t> tokens_;
  std::vector<double> gaps_;
};

}  // namespace paceline::worker
