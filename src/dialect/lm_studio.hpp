#pragma once

#include "dialect/openai_routes.hpp"

namespace paceline::dialect {

/// LM Studio: requests go through its API v0, which counts drafts; facts come of v0 and v1.
class LmStudio : public OpenAiRoutes {
 public:
  std::string_view name() const override { return "lm_studio"; }
  std::vector<trace::Ability> abilities() const override;
  std::optional<std::string> recognises(const Answers& answers) const override;
  std::vector<std::string> fact_targets() const override {
    return {"/api/v0/models", "/api/v1/models"};
  }
  void read_facts(const Answers& answers, trace::EngineFacts& facts) const override;

 protected:
  OpenAiTraits traits() const override;
  void read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const override;
};

}  // namespace paceline::dialect
