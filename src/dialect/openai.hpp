#pragma once

#include "dialect/openai_routes.hpp"

namespace paceline::dialect {

/// Anything with OpenAI's routes: it counts tokens and says nothing of passes.
class OpenAi : public OpenAiRoutes {
 public:
  std::string_view name() const override { return "openai"; }
  std::vector<trace::Ability> abilities() const override;
  std::optional<std::string> recognises(const Answers& answers) const override;
  std::vector<std::string> fact_targets() const override { return {"/v1/models"}; }
  void read_facts(const Answers& answers, trace::EngineFacts& facts) const override;

 protected:
  OpenAiTraits traits() const override;
};

}  // namespace paceline::dialect
