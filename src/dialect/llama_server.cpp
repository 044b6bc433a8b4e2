#include "dialect/llama_server.hpp"

#include "dialect/openai_routes.hpp"

namespace paceline::dialect {

using trace::Quantity;

std::vector<trace::Ability> LlamaServer::abilities() const {
  return common_abilities()
      .can(Quantity::passes_speculative, "llamacpp:spec_decode_num_drafts_total of /metrics")
      .can(Quantity::accepted_at,
           "llamacpp:spec_decode_num_accepted_tokens_per_pos_total of /metrics")
      .cannot(Quantity::offered_at, "no counter has offered tokens by position")
      .list();
}

std::optional<std::string> LlamaServer::recognises(const Answers& answers) const {
  const auto props = answer_object(answers, "/props");
  if (!props || !is_llama_props(*props) || props->contains("n_ctx")) return std::nullopt;
  return props->contains("build_info") ? "/props names build_info"
                                       : "/props has default_generation_settings and total_slots";
}

}  // namespace paceline::dialect
