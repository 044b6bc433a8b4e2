#pragma once

#include "dialect/openai_routes.hpp"

namespace paceline::dialect {

/// TensorRT-LLM. Its /metrics is emptied by whoever reads it, and is never asked for here.
class TensorrtLlm : public OpenAiRoutes {
 public:
  std::string_view name() const override { return "tensorrt_llm"; }
  std::vector<trace::Ability> abilities() const override;
  std::optional<std::string> recognises(const Answers& answers) const override;
  std::vector<std::string> fact_targets() const override { return {"/v1/models", "/version"}; }
  void read_facts(const Answers& answers, trace::EngineFacts& facts) const override;

  std::optional<std::string> counters_target() const override { return "/prometheus/metrics"; }
  util::Result<Counters> read_counters(std::string_view text) const override;
  Moved moved(const Counters& before, const Counters& after,
              std::optional<long> output_tokens) const override;

 protected:
  OpenAiTraits traits() const override;
  void read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const override;
};

}  // namespace paceline::dialect
