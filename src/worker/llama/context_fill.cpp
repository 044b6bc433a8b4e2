#include "worker/llama/context_fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "worker/heartbeat.hpp"
#include "worker/llama/facts.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

/// The text behind `fill` up to the depth asked for, or why it cannot follow it.
util::Result<llama_tokens> next_tokens(const LoadedModel& model, const protocol::Fill& job,
                                       const llama_tokens& filled) {
  const int depth = static_cast<int>(filled.size());
  if (job.depth <= depth)
    return refuse("The context holds {} tokens of text already, and depth {} is asked for.", depth,
                  job.depth);
  if (job.depth >= model.facts.n_ctx)
    return refuse("The context cannot be filled to {} tokens with -c {}: raise -c.", job.depth,
                  model.facts.n_ctx);
  llama_tokens text = common_tokenize(model.vocabulary(), job.text, true, false);
  if (static_cast<int>(text.size()) < job.depth)
    return refuse("The text to fill the context with has {} tokens, and depth {} is asked for.",
                  text.size(), job.depth);
  if (!std::equal(filled.begin(), filled.end(), text.begin()))
    return refuse("The context holds another text already.");
  text.resize(static_cast<std::size_t>(job.depth));
  return llama_tokens(text.begin() + depth, text.end());
}

class Filling {
 public:
  Filling(LoadedModel& model, JobPort& port) : model_(model), heartbeat_(port) {}

  /// The fill with `tokens` behind it. Not the model's: half of one must not be gone on with.
  util::Result<trace::Fill> run(ContextFill& fill, const llama_tokens& tokens) {
    const auto last = static_cast<int>(tokens.size()) - 1;
    const auto base = static_cast<int>(fill.tokens.size());
    fill.tokens.insert(fill.tokens.end(), tokens.begin(), tokens.end());
    result_.tokens = last + 1;
    result_.depth = base + last + 1;
    result_.began_ns = now_ns();
    const int piece = static_cast<int>(llama_n_batch(model_.target.get()));
    for (int begin = 0; begin < last; begin += piece) {
      if (heartbeat_.interrupted(trace::Progress{.tokens = base + begin})) return result_;
      PACELINE_TRY(read(tokens, begin, std::min(last, begin + piece), base));
    }
    const trace::Nanoseconds saving = now_ns();
    fill.before_last.save(model_, base + last);
    result_.began_ns += now_ns() - saving;  // no part of reading
    PACELINE_TRY(read(tokens, last, last + 1, base));
    result_.ended_ns = now_ns();
    return result_;
  }

  bool cancelled() const { return heartbeat_.cancelled(); }

 private:
  util::Result<void> read(const llama_tokens& tokens, int begin, int end, int base) {
    PACELINE_TRY_ASSIGN(const trace::Nanoseconds drafter,
                        read_on(model_,
                                std::span(tokens).subspan(static_cast<std::size_t>(begin),
                                                          static_cast<std::size_t>(end - begin)),
                                base + begin));
    result_.drafter_ns += drafter;
    return {};
  }

  LoadedModel& model_;
  Heartbeat heartbeat_;
  trace::Fill result_;
};

trace::Finished run(LoadedModel& model, const protocol::Fill& job, JobPort& port) {
  ContextFill fill = std::exchange(model.fill, {});
  const auto tokens = next_tokens(model, job, fill.tokens);
  if (!tokens) return refused(tokens.error().message);
  const auto ready =
      fill.tokens.empty() ? model.reset() : fill.return_to(model, DrafterState::fresh);
  if (!ready) return refused(ready.error().message);
  Filling filling(model, port);
  auto done = filling.run(fill, *tokens);
  if (!done) return refused(done.error().message);
  if (filling.cancelled())
    return finished(trace::OutcomeKind::cancelled, "The context was not filled to the end.");
  done->memory = memory_of(model);
  model.fill = std::move(fill);
  port.say(std::move(*done));
  return {};
}

}  // namespace

util::Result<trace::Nanoseconds> read_on(LoadedModel& model, std::span<const llama_token> tokens,
                                         int position) {
  model.batch.clear();
  for (const llama_token token : tokens)
    model.batch.add(token, position + model.batch.size(), false);
  PACELINE_TRY(decode(model.target.get(), model.batch));
  llama_synchronize(model.target.get());
  if (!model.has_drafter_context()) return 0;
  const trace::Nanoseconds began = now_ns();
  if (!model.drafters.process(model.batch.raw()))
    return tl::unexpected(decode_error(-2, model.batch.size(), position));
  llama_synchronize(model.drafter.get());
  return now_ns() - began;
}

util::Result<void> ContextFill::return_to(LoadedModel& model, DrafterState state) const {
  PACELINE_TRY(before_last.restore(model));
  if (model.speculates() && state == DrafterState::fresh)
    PACELINE_TRY(model.drafters.renew(model.setup, model.speculative));
  PACELINE_TRY(read_on(model, std::span(tokens).last(1), static_cast<int>(tokens.size()) - 1));
  return {};
}

trace::Finished fill_context(LoadedModel& model, const protocol::Fill& job, JobPort& port) {
  try {
    return run(model, job, port);
  } catch (const std::exception& problem) {
    return refused(fmt::format("llama.cpp gave up on filling the context: {}.", problem.what()));
  }
}

}  // namespace paceline::worker
