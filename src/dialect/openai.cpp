#include "dialect/openai.hpp"

#include <array>

#include "dialect/quantities.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

// The last two are no fields of OpenAI's, but most servers with its routes know them.
constexpr std::array parameters = {
    ParameterName{"temp", "temperature"},
    ParameterName{"top_p", "top_p"},
    ParameterName{"penalty_freq", "frequency_penalty"},
    ParameterName{"penalty_present", "presence_penalty"},
    ParameterName{"top_k", "top_k"},
    ParameterName{"min_p", "min_p"},
};

}  // namespace

OpenAiTraits OpenAi::traits() const {
  OpenAiTraits traits;
  traits.parameters = parameters;
  return traits;
}

std::vector<trace::Ability> OpenAi::abilities() const {
  return AbilityList("OpenAI's routes have no field for it")
      .can(Quantity::output_tokens, "usage.completion_tokens with stream_options.include_usage")
      .can(Quantity::prompt_tokens, "usage.prompt_tokens, likewise")
      .can(Quantity::prompt_cached, "usage.prompt_tokens_details.cached_tokens, where it is sent")
      .can(Quantity::prompt_processed, "usage.prompt_tokens less the cached ones, likewise")
      .can(Quantity::reasoning_tokens,
           "usage.completion_tokens_details.reasoning_tokens, where it is sent")
      .list();
}

std::optional<std::string> OpenAi::recognises(const Answers& answers) const {
  const auto models = answer_object(answers, "/v1/models");
  if (!models) return std::nullopt;
  const auto data = models->find("data");
  if (data == models->end() || !data->is_array()) return std::nullopt;
  return "/v1/models lists models, and nothing says of which kind the server is";
}

void OpenAi::read_facts(const Answers& answers, trace::EngineFacts& facts) const {
  server_facts(*this, facts);
  const std::string owner = model_owner(answers);
  facts.engine = owner.empty() ? "unknown, with OpenAI's routes" : owner;
  read_models(answers, "/v1/models", facts);
}

}  // namespace paceline::dialect
