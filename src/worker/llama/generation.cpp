#include "worker/llama/generation.hpp"

#include <fmt/format.h>

#include <exception>
#include <string>

#include "worker/llama/decode_window.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/prompt.hpp"
#include "worker/llama/refuse.hpp"
#include "worker/llama/sampling.hpp"

namespace paceline::worker {

namespace {

std::string text_of(const LoadedModel& model, std::span<const std::int32_t> tokens) {
  std::string text;
  for (const std::int32_t token : tokens)
    text += common_token_to_piece(model.vocabulary(), token, false);
  return text;
}

util::Result<void> check_forced_text(const LoadedModel& model, const protocol::Generate& job) {
  if (job.forced_text.empty()) return {};
  if (model.facts.forced_rates)
    return refuse(
        "A request cannot follow a text while acceptance is drawn by chance: force one of them.");
  for (const std::int32_t token : job.forced_text)
    if (token < 0 || token >= llama_vocab_n_tokens(model.vocabulary()))
      return refuse("The text to follow holds token {}, which this model does not have.", token);
  return {};
}

util::Result<void> check_drafting(const LoadedModel& model, const protocol::Generate& job) {
  if (!job.drafting) return {};
  if (job.on_filled || job.warm_session || model.facts.forced_rates)
    return refuse(
        "A request cannot draft in a way of its own behind a fill, in a warm session or with "
        "acceptance drawn by chance: open an engine that drafts so.");
  return model.check_drafting(*job.drafting);
}

trace::Finished run(LoadedModel& model, const protocol::Generate& job, JobPort& port) {
  if (auto checked = check_drafting(model, job); !checked) return refused(checked.error().message);
  if (auto checked = check_forced_text(model, job); !checked)
    return refused(checked.error().message);
  if (job.on_filled && model.fill.tokens.empty())
    return refused("The context holds no text to go on from: fill it first.");
  auto prompt = read_prompt(model, job);
  if (!prompt) return refused(prompt.error().message);
  const auto sampling = resolve_sampling(model.target_model.get(), job.sampling);
  if (!sampling) return refused(sampling.error().message);
  const auto state = job.warm_session ? DrafterState::kept : DrafterState::fresh;
  const auto ready =
      job.on_filled ? model.fill.return_to(model, state) : model.reset(state, job.drafting);
  if (!ready) return refused(ready.error().message);
  DecodeWindow window(model, job, sampling->parameters, std::move(*prompt), port);
  const util::Result<trace::OutcomeKind> ended = window.run();
  window.recording().flush(port);
  trace::Finished finished;
  finished.stop = window.stop();
  finished.disk_pages = window.disk_pages();
  finished.text = text_of(model, window.recording().emitted());
  if (!ended)
    finished.outcome = trace::ended(trace::OutcomeKind::refused, ended.error().message);
  else if (*ended == trace::OutcomeKind::cancelled)
    finished.outcome = trace::ended(*ended, "The request was cancelled while it ran.");
  return finished;
}

}  // namespace

trace::Finished generate(LoadedModel& model, const protocol::Generate& job, JobPort& port) {
  try {
    return run(model, job, port);
  } catch (const std::exception& problem) {
    return refused(fmt::format("llama.cpp gave up on the request: {}.", problem.what()));
  }
}

}  // namespace paceline::worker
