#include "worker/llama/probing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <random>

#include "worker/heartbeat.hpp"
#include "worker/llama/checks.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/rollback.hpp"

namespace paceline::worker {

namespace {

constexpr std::uint32_t token_seed = 20240607;
constexpr int most_repeats = 10'000;
constexpr int shallowest = 2;  // the state behind the token before the last is saved

/// Tokens past the depth that the widest pass, or a draft of a model, takes up.
int most_tokens_ahead(const LoadedModel& model, const protocol::Probe& job) {
  const int widest = *std::max_element(job.widths.begin(), job.widths.end());
  return model.has_drafter_context() ? std::max(widest, model.drafters.longest_of_last() + 1)
                                     : widest;
}

util::Result<void> check_probe(const LoadedModel& model, const protocol::Probe& job) {
  if (job.widths.empty()) return refuse("No width to measure was given: name at least one.");
  for (const int width : job.widths)
    if (width < 1 || width > model.widest_pass)
      return refuse("A pass of width {} cannot be measured: widths go from 1 to {}.", width,
                    model.widest_pass);
  if (job.repeats < 1 || job.repeats > most_repeats)
    return refuse("{} repeats cannot be measured: take 1 to {}.", job.repeats, most_repeats);
  if (job.on_filled && job.depth != static_cast<int>(model.fill.tokens.size()))
    return refuse("Depth {} cannot be measured: the context is filled to {} tokens.", job.depth,
                  model.fill.tokens.size());
  const int deepest = model.facts.n_ctx - 2 - most_tokens_ahead(model, job);
  if (job.depth < shallowest || job.depth > deepest)
    return refuse("Depth {} cannot be measured with -c {}: it goes from {} to {}.", job.depth,
                  model.facts.n_ctx, shallowest, deepest);
  return {};
}

/// Ordinary tokens of the vocabulary in an order that is the same on every platform.
llama_tokens random_tokens(const llama_vocab* vocab, std::size_t count) {
  std::mt19937 random(token_seed);
  const auto size = static_cast<std::uint32_t>(llama_vocab_n_tokens(vocab));
  const auto draw = [&] { return static_cast<llama_token>(random() % size); };
  llama_tokens tokens;
  tokens.reserve(count);
  while (tokens.size() < count) {
    llama_token token = draw();
    // Bounded: a vocabulary of nothing but special tokens must not hang the probe.
    for (int i = 0; i < 100; ++i) {
      if (!llama_vocab_is_control(vocab, token) && !llama_vocab_is_eog(vocab, token)) break;
      token = draw();
    }
    tokens.push_back(token);
  }
  return tokens;
}

class Probing {
 public:
  Probing(LoadedModel& model, const protocol::Probe& job, JobPort& port)
      : model_(model),
        job_(job),
        port_(port),
        tokens_(random_tokens(model.vocabulary(),
                              static_cast<std::size_t>(job.depth + most_tokens_ahead(model, job)))),
        past_(job.on_filled ? model.fill.tokens
                            : llama_tokens(tokens_.begin(), tokens_.begin() + job.depth)) {
    std::copy(past_.begin(), past_.end(), tokens_.begin());
    for (const int width : job.widths) times_.push_back(empty_time(width));
  }

  util::Result<trace::OutcomeKind> run() {
    PACELINE_TRY(fill());
    for (int repeat = 0; repeat < job_.repeats; ++repeat)
      for (std::size_t i = 0; i < times_.size(); ++i) {
        if (heartbeat_.interrupted()) return trace::OutcomeKind::cancelled;
        trace::WidthTime& time = times_[(i + static_cast<std::size_t>(repeat)) % times_.size()];
        trace::WidthTime unused = empty_time(time.width);
        PACELINE_TRY(measure(unused));
        PACELINE_TRY(measure(time));
      }
    for (trace::WidthTime& time : times_) port_.say(std::move(time));
    return trace::OutcomeKind::done;
  }

 private:
  trace::WidthTime empty_time(int width) const {
    trace::WidthTime time;
    time.width = width;
    time.depth = job_.depth;
    time.on_filled = job_.on_filled;
    return time;
  }

  /// Brings both contexts to the depth and remembers the state one token before it.
  util::Result<void> fill() {
    if (job_.on_filled) {
      PACELINE_TRY(model_.fill.return_to(model_, DrafterState::fresh));
      checkpoint_ = model_.fill.before_last;
      model_.drafters.begin(past_);
      return {};
    }
    PACELINE_TRY(model_.reset());
    const int piece = static_cast<int>(llama_n_batch(model_.target.get()));
    const int last = job_.depth - 1;
    for (int begin = 0; begin < last; begin += piece)
      PACELINE_TRY(feed(begin, std::min(last, begin + piece)));
    checkpoint_.save(model_, last);
    PACELINE_TRY(feed(last, job_.depth));
    model_.drafters.begin(past_);
    return {};
  }

  /// Back to the depth. The last token before it is decoded again: a drafter may carry its row of
  /// hidden state over to the next pass, outside of what a context can save.
  util::Result<void> return_to_depth() {
    PACELINE_TRY(checkpoint_.restore(model_));
    return feed(job_.depth - 1, job_.depth);
  }

  util::Result<void> feed(int begin, int end) {
    PACELINE_TRY(read_on(model_,
                         std::span(tokens_).subspan(static_cast<std::size_t>(begin),
                                                    static_cast<std::size_t>(end - begin)),
                         begin));
    return {};
  }

  void load_batch(int begin, int end) {
    model_.batch.clear();
    for (int i = begin; i < end; ++i)
      model_.batch.add(tokens_[static_cast<std::size_t>(i)], i, true);
  }

  util::Result<void> process() {
    if (!model_.has_drafter_context()) return {};
    if (!model_.drafters.process(model_.batch.raw()))
      return tl::unexpected(decode_error(-2, model_.batch.size(), job_.depth));
    llama_synchronize(model_.drafter.get());
    return {};
  }

  /// One pass as a request makes it, without sampling; leaves the state as it was.
  util::Result<void> measure(trace::WidthTime& time) {
    if (const int length = draft_length(time.width); length > 0)
      time.draft_ns.push_back(time_draft(length));
    PACELINE_TRY(return_to_depth());
    load_batch(job_.depth, job_.depth + time.width);
    const trace::Nanoseconds began = now_ns();
    PACELINE_TRY(decode(model_.target.get(), model_.batch));
    llama_synchronize(model_.target.get());
    const trace::Nanoseconds verified = now_ns();
    time.verify_ns.push_back(verified - began);
    PACELINE_TRY(process());
    if (model_.has_drafter_context()) time.process_ns.push_back(now_ns() - verified);
    return return_to_depth();
  }

  /// Length of the draft that a pass of this width verifies, 0 where none is timed: n-gram drafters
  /// look up what random tokens don't hold, and a block is never shorter than itself.
  int draft_length(int width) const {
    const int length = width - 1;
    const int longest = model_.drafters.longest_of_last();
    if (!model_.has_drafter_context() || length > longest) return 0;
    const bool stops_early = model_.setup.spec_type == trace::SpecType::draft_simple;
    return !stops_early && length < longest ? 0 : length;
  }

  trace::Nanoseconds time_draft(int length) {
    llama_tokens draft;
    draft.reserve(static_cast<std::size_t>(length));
    const DraftRequest request{
        .past = past_, .last = tokens_[static_cast<std::size_t>(job_.depth)], .room = length};
    const trace::Nanoseconds began = now_ns();
    model_.drafters.draft_with_model(request, draft);
    llama_synchronize(model_.drafter.get());
    return now_ns() - began;
  }

  LoadedModel& model_;
  const protocol::Probe& job_;
  JobPort& port_;
  llama_tokens tokens_;  ///< those before the depth, then those of the widest pass
  llama_tokens past_;
  std::vector<trace::WidthTime> times_;
  Checkpoint checkpoint_;
  Heartbeat heartbeat_{port_};
};

trace::Finished run(LoadedModel& model, const protocol::Probe& job, JobPort& port) {
  if (auto checked = check_probe(model, job); !checked) return refused(checked.error().message);
  Probing probing(model, job, port);
  const util::Result<trace::OutcomeKind> ended = probing.run();
  if (!ended) return refused(ended.error().message);
  if (*ended == trace::OutcomeKind::cancelled)
    return finished(*ended, "The probe was cancelled while it ran.");
  return {};
}

}  // namespace

trace::Finished probe(LoadedModel& model, const protocol::Probe& job, JobPort& port) {
  try {
    return run(model, job, port);
  } catch (const std::exception& problem) {
    return refused(fmt::format("llama.cpp gave up on the probe: {}.", problem.what()));
  }
}

}  // namespace paceline::worker
