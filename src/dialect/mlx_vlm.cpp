#include "dialect/mlx_vlm.hpp"

#include <array>

#include "dialect/quantities.hpp"
#include "dialect/timings.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr std::array parameters = {
    ParameterName{"temp", "temperature"},
    ParameterName{"top_k", "top_k"},
    ParameterName{"top_p", "top_p"},
    ParameterName{"min_p", "min_p"},
    ParameterName{"penalty_repeat", "repetition_penalty"},
};

}  // namespace

OpenAiTraits MlxVlm::traits() const {
  OpenAiTraits traits;
  traits.parameters = parameters;
  traits.text_route = false;
  return traits;
}

std::vector<trace::Ability> MlxVlm::abilities() const {
  return AbilityList("mlx-vlm does not say it")
      .can(Quantity::output_tokens, "timings.predicted_n")
      .can(Quantity::prompt_tokens, "usage.prompt_tokens")
      .can(Quantity::prompt_cached, "timings.cache_n")
      .can(Quantity::prompt_processed, "timings.prompt_n")
      .can(Quantity::prefill_s, "timings.prompt_ms")
      .can(Quantity::decode_s, "timings.predicted_ms")
      .can(Quantity::tokens_per_s, "timings.predicted_per_second")
      .can(Quantity::offered, "timings.draft_n")
      .can(Quantity::accepted, "timings.draft_n_accepted, which may exceed the output")
      .can(Quantity::passes_speculative, "timings.draft_rounds")
      .cannot(Quantity::passes, "passes without a draft are not counted; only by the identity")
      .cannot(Quantity::passes_plain, "passes without a draft are not counted")
      .list();
}

std::optional<std::string> MlxVlm::recognises(const Answers& answers) const {
  const auto health = answer_object(answers, "/health");
  if (!health || !health->contains("loaded_model")) return std::nullopt;
  if (!health->contains("loaded_adapter") && !health->contains("continuous_batching_enabled"))
    return std::nullopt;
  return "/health names loaded_model and what mlx-vlm says beside it";
}

void MlxVlm::read_facts(const Answers& answers, trace::EngineFacts& facts) const {
  trace::ServerFacts& server = server_facts(*this, facts);
  facts.engine = "mlx-vlm";
  if (const auto health = answer_object(answers, "/health")) {
    const Fields fields(*health, "/health", facts.target.oddities);
    server.model = fields.line("loaded_model");
    facts.target.name = server.model.value_or("");
    if (const auto context = fields.small_count("effective_context_limit")) facts.n_ctx = *context;
    if (facts.n_ctx == 0) facts.n_ctx = fields.small_count("loaded_context_size").value_or(0);
  }
  if (!server.model) read_models(answers, "/v1/models", facts);
}

void MlxVlm::read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const {
  const Fields timings = Fields(json, "", message.oddities).object("timings");
  if (!timings) return;
  read_timings(timings, shape.endpoint, shape.last, message);
  if (const auto kind = timings.line("draft_kind")) {
    message.speculates = true;
    message.spec_types = {*kind};
  }
  if (!shape.last) return;
  Sayings say(message.said, shape.endpoint);
  say.add(Quantity::passes_speculative, timings.count("draft_rounds"),
          timings.path("draft_rounds"));
}

}  // namespace paceline::dialect
