#pragma once

#include <optional>
#include <span>
#include <vector>

#include "protocol/job.hpp"
#include "sampling.h"
#include "trace/request.hpp"
#include "worker/forced_acceptance.hpp"
#include "worker/heartbeat.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/rollback.hpp"
#include "worker/recording.hpp"

namespace paceline::worker {

/// One request from its prompt to its last token: draft, verify, process, sample, accept, roll
/// back, in llama-server's order. Passes are recorded where the decode call is made, emissions
/// after sampling from what was really emitted, so that the two count independently.
class DecodeWindow {
 public:
  DecodeWindow(LoadedModel& model, const protocol::Generate& job,
               const common_params_sampling& sampling, llama_tokens prompt, JobPort& port);

  /// Runs to the end: done or cancelled, or what went wrong.
  util::Result<trace::OutcomeKind> run();

  trace::StopReason stop() const { return stop_; }
  /// As in trace::Request; absent before the end.
  const std::optional<long>& disk_pages() const { return disk_pages_; }
  const Recording& recording() const { return recording_; }

 private:
  bool ended() const { return stop_ != trace::StopReason::none; }
  int depth() const { return static_cast<int>(past_.size()); }
  int draft_size() const { return static_cast<int>(draft_.size()); }
  bool interrupted();

  util::Result<void> prefill();
  util::Result<void> prefill_piece(std::size_t begin, std::size_t end);
  util::Result<void> pass();
  util::Result<void> draft(trace::Pass& pass);
  void run_drafters(int room, trace::Pass& pass);
  util::Result<void> verify(trace::Pass& pass);
  llama_tokens sample();
  llama_tokens sample_by_chance();
  llama_tokens sample_along_text();
  llama_token along_text(llama_token own, std::size_t ahead) const;
  void judge(std::span<const llama_token> sampled, trace::Pass& pass);
  util::Result<void> settle(std::span<const llama_token> sampled);
  util::Result<void> return_to_checkpoint(std::span<const llama_token> sampled);
  void emit(std::span<const llama_token> sampled, int pass, int accepted);
  void measure_gaps(std::size_t rows);
  void advance(std::span<const llama_token> sampled);

  void synchronize();
  trace::Nanoseconds lap();

  LoadedModel& model_;
  const protocol::Generate& job_;
  Heartbeat heartbeat_;
  llama_tokens prompt_;
  llama_tokens past_;  ///< tokens in the KV cache
  int filled_ = 0;     ///< those of them that were there before the prompt
  common_sampler_ptr sampler_;
  common_sampler_ptr sampler_before_;     ///< as it was before the verify that may be replayed
  std::optional<AcceptanceDraw> forced_;  ///< absent: the target decides what it accepts
  Checkpoint checkpoint_;
  Recording recording_;
  llama_token last_ = 0;  ///< emitted, not yet decoded
  llama_tokens draft_;    ///< offered tokens, or those to decode again in a replay
  bool replaying_ = false;
  trace::StopReason stop_ = trace::StopReason::none;
  long disk_pages_of_prefill_ = 0;  ///< and of whatever ran before it
  std::optional<long> disk_pages_;
  trace::Phases phases_;
  trace::Nanoseconds lap_began_ = 0;
};

}  // namespace paceline::worker
