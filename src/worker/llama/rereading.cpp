#include "worker/llama/rereading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>
#include <vector>

#include "worker/heartbeat.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/prompt.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/rollback.hpp"
#include "worker/llama/sampling.hpp"
#include "worker/percentile.hpp"

namespace paceline::worker {

namespace {

constexpr std::size_t most_logits_kept = std::size_t{1} << 25;
constexpr double percentile_of_interest = 0.99;

util::Result<void> check_text(const LoadedModel& model, const protocol::KnownText& text) {
  const auto size = static_cast<int>(text.tokens.size());
  if (size == 0) return refuse("The text of prompt {} is empty: nothing to read.", text.prompt_id);
  for (const std::int32_t token : text.tokens)
    if (token < 0 || token >= llama_vocab_n_tokens(model.vocabulary()))
      return refuse("The text of prompt {} holds token {}, which this model does not have.",
                    text.prompt_id, token);
  for (const int place : text.places)
    if (place < 1 || place > size)
      return refuse(
          "The text of prompt {} has tokens 1 to {}, and the margin of token {} is asked.",
          text.prompt_id, size, place);
  return {};
}

util::Result<void> check_reread(const LoadedModel& model, const protocol::Reread& job) {
  if (model.speculates())
    return refuse("Texts are read again by a target alone: open it without a drafter.");
  for (const int width : job.widths)
    if (width < 2 || width > model.widest_pass)
      return refuse("Passes of width {} cannot be compared: widths go from 2 to {}.", width,
                    model.widest_pass);
  for (const protocol::KnownText& text : job.texts) PACELINE_TRY(check_text(model, text));
  return {};
}

class Rereading {
 public:
  Rereading(LoadedModel& model, const protocol::Reread& job, JobPort& port)
      : model_(model),
        job_(job),
        port_(port),
        vocabulary_(static_cast<std::size_t>(llama_vocab_n_tokens(model.vocabulary()))),
        differences_(job.widths.size()) {}

  util::Result<trace::OutcomeKind> run() {
    for (const protocol::KnownText& text : job_.texts) {
      if (heartbeat_.interrupted()) return trace::OutcomeKind::cancelled;
      PACELINE_TRY(read_prompt_of(text));
      PACELINE_TRY(read_token_by_token(text));
      for (std::size_t i = 0; i < job_.widths.size() && !heartbeat_.cancelled(); ++i)
        PACELINE_TRY(read_in_passes(text, job_.widths[i], differences_[i]));
    }
    if (heartbeat_.cancelled()) return trace::OutcomeKind::cancelled;
    for (std::size_t i = 0; i < job_.widths.size(); ++i)
      result_.widths.push_back({job_.widths[i], differences_[i].count(),
                                differences_[i].at(percentile_of_interest),
                                differences_[i].largest()});
    port_.say(std::move(result_));
    return trace::OutcomeKind::done;
  }

 private:
  std::span<const float> logits(int row) const {
    return {llama_get_logits_ith(model_.target.get(), row), vocabulary_};
  }

  /// Decodes the prompt, whose last row says the text's first token, and remembers the state.
  util::Result<void> read_prompt_of(const protocol::KnownText& text) {
    protocol::Generate request;
    request.prompt = text.prompt;
    request.messages = text.messages;
    request.n_predict = static_cast<int>(text.tokens.size());
    PACELINE_TRY_ASSIGN(const auto prompt, read_prompt(model_, request));
    PACELINE_TRY(model_.reset());
    depth_ = static_cast<int>(prompt.size());
    const int piece = static_cast<int>(llama_n_batch(model_.target.get()));
    for (int begin = 0; begin < depth_ && !heartbeat_.interrupted(); begin += piece) {
      model_.batch.clear();
      for (int i = begin; i < std::min(depth_, begin + piece); ++i)
        model_.batch.add(prompt[static_cast<std::size_t>(i)], i, i + 1 == depth_);
      PACELINE_TRY(decode(model_.target.get(), model_.batch));
    }
    if (heartbeat_.cancelled()) return {};
    note_margin(text, 1, logits(model_.batch.size() - 1));
    checkpoint_.save(model_, depth_);
    return {};
  }

  util::Result<void> read_token_by_token(const protocol::KnownText& text) {
    kept_.clear();
    places_kept_ = 0;
    for (std::size_t i = 0; i + 1 < text.tokens.size() && !heartbeat_.interrupted(); ++i) {
      PACELINE_TRY(pass(text, i, 1));
      const auto row = logits(0);
      note_margin(text, static_cast<int>(i) + 2, row);
      if (job_.widths.empty() || kept_.size() + vocabulary_ > most_logits_kept) continue;
      kept_.insert(kept_.end(), row.begin(), row.end());
      ++places_kept_;
    }
    return {};
  }

  util::Result<void> read_in_passes(const protocol::KnownText& text, int width,
                                    Percentile& differences) {
    PACELINE_TRY(checkpoint_.restore(model_));
    const auto step = static_cast<std::size_t>(width);
    for (std::size_t begin = 0; begin + step <= places_kept_ && !heartbeat_.interrupted();
         begin += step) {
      PACELINE_TRY(pass(text, begin, width));
      for (int row = 0; row < width; ++row)
        compare(logits(row), begin + static_cast<std::size_t>(row), differences);
    }
    return {};
  }

  /// Decodes `width` tokens of the text from number `begin` on, counted from 0.
  util::Result<void> pass(const protocol::KnownText& text, std::size_t begin, int width) {
    model_.batch.clear();
    for (int i = 0; i < width; ++i)
      model_.batch.add(text.tokens[begin + static_cast<std::size_t>(i)],
                       depth_ + static_cast<int>(begin) + i, true);
    return decode(model_.target.get(), model_.batch);
  }

  void compare(std::span<const float> wide, std::size_t place, Percentile& differences) const {
    const std::span narrow = std::span(kept_).subspan(place * vocabulary_, vocabulary_);
    for (std::size_t i = 0; i < vocabulary_; ++i)
      // Some models rule tokens out with an infinite logit.
      if (const float difference = std::abs(wide[i] - narrow[i]); std::isfinite(difference))
        differences.add(difference);
  }

  void note_margin(const protocol::KnownText& text, int token, std::span<const float> row) {
    if (std::count(text.places.begin(), text.places.end(), token) == 0) return;
    const double gap = top2_gap(row.data(), static_cast<int>(row.size()));
    if (std::isfinite(gap))
      result_.margins.push_back({text.workload_class, text.prompt_id, token, gap});
  }

  LoadedModel& model_;
  const protocol::Reread& job_;
  JobPort& port_;
  std::size_t vocabulary_;
  std::vector<Percentile> differences_;  ///< by width, as in the job
  std::vector<float> kept_;              ///< logits token by token, a row for each place
  std::size_t places_kept_ = 0;
  int depth_ = 0;  ///< tokens of the prompt
  Checkpoint checkpoint_;
  trace::Rereading result_;
  Heartbeat heartbeat_{port_};
};

trace::Finished run(LoadedModel& model, const protocol::Reread& job, JobPort& port) {
  if (auto checked = check_reread(model, job); !checked) return refused(checked.error().message);
  const util::Result<trace::OutcomeKind> ended = Rereading(model, job, port).run();
  if (!ended) return refused(ended.error().message);
  if (*ended == trace::OutcomeKind::cancelled)
    return finished(*ended, "Reading texts again was cancelled.");
  return {};
}

}  // namespace

trace::Finished reread(LoadedModel& model, const protocol::Reread& job, JobPort& port) {
  try {
    return run(model, job, port);
  } catch (const std::exception& problem) {
    return refused(fmt::format("llama.cpp gave up on reading a text again: {}.", problem.what()));
  }
}

}  // namespace paceline::worker
