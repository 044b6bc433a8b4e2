#include "worker/llama/decode_window.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "worker/llama/checks.hpp"
#include "worker/llama/sampling.hpp"

namespace paceline::worker {

namespace {

common_sampler_ptr make_sampler(const LoadedModel& model, const protocol::Generate& job,
                                common_params_sampling parameters, const llama_tokens& filled,
                                const llama_tokens& prompt) {
  parameters.seed = job.seed;
  common_sampler_ptr sampler(common_sampler_init(model.target_model.get(), parameters));
  // Penalties look back into the prompt, as in llama-server.
  for (const llama_token token : filled) common_sampler_accept(sampler.get(), token, false);
  for (const llama_token token : prompt) common_sampler_accept(sampler.get(), token, false);
  return sampler;
}

/// Tokens of `sampled` that become output: all, or up to the end-of-generation token or the cap.
struct Cut {
  std::size_t kept = 0;
  trace::StopReason stop = trace::StopReason::none;
};

Cut cut_output(std::span<const llama_token> sampled, std::size_t room, const llama_vocab* vocab) {
  for (std::size_t i = 0; i < std::min(sampled.size(), room); ++i)
    if (llama_vocab_is_eog(vocab, sampled[i])) return {i + 1, trace::StopReason::eos};
  if (sampled.size() >= room) return {room, trace::StopReason::limit};
  return {sampled.size(), trace::StopReason::none};
}

/// Of all threads of this process.
long disk_pages_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_majflt;
}

std::size_t most_passes(const LoadedModel& model, int n_predict) {
  const bool replays = model.speculates() && needs_replay(model, model.longest_draft);
  return static_cast<std::size_t>(n_predict) * (replays ? 2 : 1);
}

}  // namespace

DecodeWindow::DecodeWindow(LoadedModel& model, const protocol::Generate& job,
                           const common_params_sampling& sampling, llama_tokens prompt,
                           JobPort& port)
    : model_(model),
      job_(job),
      heartbeat_(port),
      prompt_(std::move(prompt)),
      past_(job.on_filled ? model.fill.tokens : llama_tokens()),
      filled_(static_cast<int>(past_.size())),
      sampler_(make_sampler(model, job, sampling, past_, prompt_)),
      recording_(static_cast<std::size_t>(job.n_predict), most_passes(model, job.n_predict),
                 job.record_drafts ? static_cast<std::size_t>(model.longest_draft) : 0,
                 job.record_gaps) {
  if (model.facts.forced_rates) forced_.emplace(*model.facts.forced_rates, job.seed);
  past_.reserve(static_cast<std::size_t>(model.facts.n_ctx));
  draft_.reserve(static_cast<std::size_t>(model.longest_draft) + 1);
}

util::Result<trace::OutcomeKind> DecodeWindow::run() {
  PACELINE_TRY(prefill());
  while (!ended()) {
    if (interrupted()) return trace::OutcomeKind::cancelled;
    PACELINE_TRY(pass());
  }
  disk_pages_ = disk_pages_so_far() - disk_pages_of_prefill_;
  return trace::OutcomeKind::done;
}

bool DecodeWindow::interrupted() {
  return heartbeat_.interrupted(trace::Progress{.tokens = recording_.tokens()});
}

util::Result<void> DecodeWindow::prefill() {
  trace::Prefill& prefill = recording_.prefill;
  prefill.prompt_tokens = filled_ + static_cast<int>(prompt_.size());
  prefill.began_ns = now_ns();
  // Not batch_tokens: llama.cpp lowers it to the context it was given.
  const std::size_t piece = llama_n_batch(model_.target.get());
  for (std::size_t begin = 0; begin < prompt_.size(); begin += piece) {
    if (begin > 0 && interrupted()) return {};
    PACELINE_TRY(prefill_piece(begin, std::min(prompt_.size(), begin + piece)));
  }
  model_.drafters.begin(past_);
  disk_pages_of_prefill_ = disk_pages_so_far();  // before the first token, where decoding begins
  last_ = along_text(
      common_sampler_sample(sampler_.get(), model_.target.get(), model_.batch.size() - 1), 0);
  common_sampler_accept(sampler_.get(), last_, true);
  emit({&last_, 1}, -1, 0);
  return {};
}

util::Result<void> DecodeWindow::prefill_piece(std::size_t begin, std::size_t end) {
  Batch& batch = model_.batch;
  batch.clear();
  for (std::size_t i = begin; i < end; ++i)
    batch.add(prompt_[i], filled_ + static_cast<int>(i), i + 1 == prompt_.size());
  PACELINE_TRY(decode(model_.target.get(), batch));
  past_.insert(past_.end(), prompt_.begin() + static_cast<std::ptrdiff_t>(begin),
               prompt_.begin() + static_cast<std::ptrdiff_t>(end));
  recording_.prefill.processed_tokens = depth() - filled_;
  if (!model_.has_drafter_context()) return {};
  // The drafter reads what the target computed and would wait for it: that wait is not its own.
  llama_synchronize(model_.target.get());
  const trace::Nanoseconds began = now_ns();
  if (!model_.drafters.process(batch.raw()))
    return tl::unexpected(decode_error(-2, batch.size(), filled_ + static_cast<int>(begin)));
  if (job_.synced) llama_synchronize(model_.drafter.get());
  recording_.prefill.drafter_ns += now_ns() - began;
  return {};
}

void DecodeWindow::synchronize() {
  if (!job_.synced) return;
  llama_synchronize(model_.target.get());
  if (model_.has_drafter_context()) llama_synchronize(model_.drafter.get());
}

/// Time since the last lap, with the devices idle at its end when the job is synced.
trace::Nanoseconds DecodeWindow::lap() {
  synchronize();
  const trace::Nanoseconds now = now_ns();
  return now - std::exchange(lap_began_, now);
}

util::Result<void> DecodeWindow::pass() {
  phases_ = {};
  trace::Pass pass;
  pass.index = recording_.passes();
  pass.depth = depth();
  pass.began_ns = lap_began_ = now_ns();
  if (!replaying_) PACELINE_TRY(draft(pass));
  PACELINE_TRY(verify(pass));
  trace::Pass& recorded = recording_.add(
      std::move(pass), replaying_ ? std::span<const llama_token>() : std::span(draft_));
  const llama_tokens sampled = sample();
  phases_.sample_ns = lap();
  judge(sampled, recorded);
  PACELINE_TRY(settle(sampled));
  phases_.rollback_ns = lap();
  if (job_.synced) recorded.phases = phases_;
  recorded.ended_ns = lap_began_;
  return {};
}

util::Result<void> DecodeWindow::draft(trace::Pass& pass) {
  draft_.clear();
  const int output_room = job_.n_predict - recording_.tokens() - 1;
  const int room = std::min(model_.facts.n_ctx - depth() - 2, output_room);
  // Not left to the drafter: to it a limit of 0 means none.
  if (!model_.speculates() || room <= 0) return {};
  checkpoint_.mark(model_, depth());
  phases_.checkpoint_ns = lap();
  run_drafters(room, pass);
  phases_.draft_ns = lap();
  PACELINE_TRY(checkpoint_.protect(model_, draft_size()));
  if (!draft_.empty() && needs_replay(model_, draft_size()))
    sampler_before_.reset(common_sampler_clone(sampler_.get()));
  phases_.checkpoint_ns += lap();
  return {};
}

void DecodeWindow::run_drafters(int room, trace::Pass& pass) {
  Drafted drafted = model_.drafters.draft({.past = past_, .last = last_, .room = room}, draft_);
  pass.attempts = drafted.attempts;
  pass.generated = drafted.generated;
  pass.drafter = std::move(drafted.drafter);
}

util::Result<void> DecodeWindow::verify(trace::Pass& pass) {
  Batch& batch = model_.batch;
  batch.clear();
  batch.add(last_, depth(), true);
  for (const llama_token token : draft_) batch.add(token, depth() + batch.size(), true);
  pass.width = batch.size();
  pass.offered = replaying_ ? 0 : draft_size();
  pass.kind = replaying_       ? trace::PassKind::replay
              : draft_.empty() ? trace::PassKind::plain
                               : trace::PassKind::speculative;
  PACELINE_TRY(decode(model_.target.get(), batch));
  llama_synchronize(model_.target.get());
  phases_.verify_ns = lap();
  if (!model_.drafters.process(batch.raw()))
    return tl::unexpected(decode_error(-2, batch.size(), depth()));
  phases_.process_ns = lap();
  return {};
}

/// The accepted tokens of the draft and the target's own behind them.
llama_tokens DecodeWindow::sample() {
  if (forced_) return sample_by_chance();
  if (!job_.forced_text.empty()) return sample_along_text();
  return common_sampler_sample_and_accept_n(sampler_.get(), model_.target.get(), draft_);
}

/// The target is asked at every place, as when it decides, and overruled.
llama_tokens DecodeWindow::sample_by_chance() {
  // A drafted end of text would end the output for no reason. What is replayed was accepted before.
  const auto end = std::find_if(draft_.begin(), draft_.end(), [&](llama_token token) {
    return llama_vocab_is_eog(model_.vocabulary(), token);
  });
  const int accepted = replaying_ ? draft_size()
                                  : std::min(forced_->accepted(draft_size()),
                                             static_cast<int>(end - draft_.begin()));
  llama_tokens sampled;
  for (int place = 0; place <= accepted; ++place) {
    const llama_token own = common_sampler_sample(sampler_.get(), model_.target.get(), place);
    sampled.push_back(place < accepted ? draft_[static_cast<std::size_t>(place)] : own);
    common_sampler_accept(sampler_.get(), sampled.back(), true);
  }
  return sampled;
}

/// As common_sampler_sample_and_accept_n, with the target overruled by the text to follow.
llama_tokens DecodeWindow::sample_along_text() {
  llama_tokens sampled;
  while (true) {
    const std::size_t place = sampled.size();
    const llama_token own =
        common_sampler_sample(sampler_.get(), model_.target.get(), static_cast<int>(place));
    sampled.push_back(along_text(own, place));
    common_sampler_accept(sampler_.get(), sampled.back(), true);
    if (place == draft_.size() || sampled.back() != draft_[place]) return sampled;
  }
}

/// The token of the text so many places after what was emitted; the target's own behind its end.
llama_token DecodeWindow::along_text(llama_token own, std::size_t ahead) const {
  const std::size_t place = static_cast<std::size_t>(recording_.tokens()) + ahead;
  return place < job_.forced_text.size() ? job_.forced_text[place] : own;
}

/// What became of the offered draft. Where the target decides it is counted by comparing tokens;
/// by chance its own token may be the drafted one, and is a rejection all the same.
void DecodeWindow::judge(std::span<const llama_token> sampled, trace::Pass& pass) {
  if (pass.kind != trace::PassKind::speculative) return;
  const auto [ours, theirs] =
      std::mismatch(draft_.begin(), draft_.end(), sampled.begin(), sampled.end());
  pass.accepted = static_cast<int>(forced_ ? sampled.size() - 1
                                           : static_cast<std::size_t>(ours - draft_.begin()));
  pass.tested = pass.accepted + (pass.accepted < draft_size() ? 1 : 0);
}

/// Makes the sampled tokens output and brings both contexts to where the output ends; or, when the
/// target cannot undo the rejected part, goes back to have the accepted part decoded again.
util::Result<void> DecodeWindow::settle(std::span<const llama_token> sampled) {
  const std::size_t rejected = draft_.size() + 1 - sampled.size();
  const int pass = recording_.passes() - 1;
  // A replay that disagrees with the verify before it: that pass's own token is never counted.
  if (replaying_ && rejected > 0) recording_.pass(pass - 1).superseded = true;
  if (rejected > 0 && needs_replay(model_, static_cast<int>(rejected)))
    return return_to_checkpoint(sampled);
  // The last token to replay was the target's own, not the drafter's.
  const std::size_t drafted = draft_.size() - (replaying_ ? 1 : 0);
  emit(sampled, pass, static_cast<int>(std::min(sampled.size() - 1, drafted)));
  if (!draft_.empty()) model_.drafters.accept(static_cast<int>(sampled.size()) - 1);
  phases_.accept_ns = lap();
  advance(sampled);
  return rejected > 0 ? roll_back(model_, depth()) : util::Result<void>{};
}

util::Result<void> DecodeWindow::return_to_checkpoint(std::span<const llama_token> sampled) {
  PACELINE_TRY(checkpoint_.restore(model_));
  common_sampler_copy(sampler_before_.get(), sampler_.get());
  draft_.assign(sampled.begin(), sampled.end());
  replaying_ = true;
  return {};
}

void DecodeWindow::advance(std::span<const llama_token> sampled) {
  past_.push_back(last_);
  past_.insert(past_.end(), sampled.begin(), sampled.end() - 1);
  last_ = sampled.back();
  replaying_ = false;
}

void DecodeWindow::emit(std::span<const llama_token> sampled, int pass, int accepted) {
  const trace::Nanoseconds at = now_ns();
  const auto room = static_cast<std::size_t>(job_.n_predict - recording_.tokens());
  const Cut cut = cut_output(sampled, room, model_.vocabulary());
  trace::Emission emission;
  emission.pass = pass;
  emission.accepted = accepted;
  emission.overshoot = static_cast<int>(sampled.size() - cut.kept);
  emission.at_ns = at;
  recording_.emit(std::move(emission), sampled.first(cut.kept));
  if (pass < 0) recording_.prefill.ended_ns = at;
  stop_ = cut.stop;
  if (job_.record_gaps) measure_gaps(cut.kept);
}

/// The target's gap at the row each of the last pass's first `rows` tokens was sampled from.
void DecodeWindow::measure_gaps(std::size_t rows) {
  const bool from_prompt = recording_.passes() == 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const int row = from_prompt ? model_.batch.size() - 1 : static_cast<int>(i);
    recording_.add_gap(top2_gap(llama_get_logits_ith(model_.target.get(), row),
                                llama_vocab_n_tokens(model_.vocabulary())));
  }
}

}  // namespace paceline::worker
