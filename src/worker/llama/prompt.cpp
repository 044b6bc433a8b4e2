#include "worker/llama/prompt.hpp"

#include <fmt/format.h>

#include <limits>

#include "worker/llama/chat.hpp"
#include "worker/llama/loaded_model.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

util::Result<void> check_request(const std::vector<std::int32_t>& prompt, int n_predict,
                                 std::uint32_t seed, int n_ctx, int vocabulary) {
  if (prompt.empty())
    return refuse("The prompt is empty: there is nothing to generate from; give it some text.");
  if (n_predict < 1)
    return refuse("{} output tokens cannot be generated: ask for 1 or more.", n_predict);
  for (const std::int32_t token : prompt)
    if (token < 0 || token >= vocabulary)
      return refuse(
          "The prompt holds token {}, and the model has tokens 0 to {}: give token ids "
          "of this model's tokenizer.",
          token, vocabulary - 1);
  // Drawn at random by llama.cpp, so that the request could not be repeated.
  if (seed == std::numeric_limits<std::uint32_t>::max())
    return refuse("Seed {} means a random seed to llama.cpp: choose another.", seed);
  const std::size_t needed = prompt.size() + static_cast<std::size_t>(n_predict) + 1;
  if (needed > static_cast<std::size_t>(n_ctx))
    return refuse(
        "prompt of {} tokens + {} output tokens need {} tokens of context and -c is {}: "
        "raise -c or shorten.",
        prompt.size(), n_predict, needed, n_ctx);
  return {};
}

util::Result<std::vector<std::int32_t>> read_prompt(LoadedModel& model,
                                                    const protocol::Generate& job) {
  std::vector<std::int32_t> tokens = job.prompt_tokens;
  std::string text = job.prompt;
  if (tokens.empty() && !job.messages.empty()) {
    PACELINE_TRY_ASSIGN(text, render_chat(model, job.messages));
  }
  // With special tokens added and parsed, as llama-server does; what is filled began with them.
  if (tokens.empty() && !text.empty())
    tokens = common_tokenize(model.vocabulary(), text, !job.on_filled, true);
  const int filled = job.on_filled ? static_cast<int>(model.fill.tokens.size()) : 0;
  PACELINE_TRY(check_request(tokens, job.n_predict, job.seed, model.facts.n_ctx - filled,
                             llama_vocab_n_tokens(model.vocabulary())));
  return tokens;
}

}  // namespace paceline::worker
