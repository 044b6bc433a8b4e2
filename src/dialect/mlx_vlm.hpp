#pragma once

#include "dialect/openai_routes.hpp"

namespace paceline::dialect {

/// mlx-vlm's server: OpenAI's chat route with timings like llama.cpp's.
class MlxVlm : public OpenAiRoutes {
 public:
  std::string_view name() const override { return "mlx_vlm"; }
  std::vector<trace::Ability> abilities() const override;
  std::optional<std::string> recognises(const Answers& answers) const override;
  std::vector<std::string> fact_targets() const override { return {"/health", "/v1/models"}; }
  void read_facts(const Answers& answers, trace::EngineFacts& facts) const override;

 protected:
  OpenAiTraits traits() const override;
  void read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const override;
};

}  // namespace paceline::dialect
