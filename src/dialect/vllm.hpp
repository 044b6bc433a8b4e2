#pragma once

#include "dialect/openai_routes.hpp"

namespace paceline::dialect {

/// vLLM, of both engine generations (V0 and V1).
class Vllm : public OpenAiRoutes {
 public:
  std::string_view name() const override { return "vllm"; }
  std::vector<trace::Ability> abilities() const override;
  std::optional<std::string> recognises(const Answers& answers) const override;
  /// /server_info is there in its developer mode only, and says how it was configured.
  std::vector<std::string> fact_targets() const override {
    return {"/v1/models", "/version", "/server_info"};
  }
  void read_facts(const Answers& answers, trace::EngineFacts& facts) const override;

  std::optional<std::string> counters_target() const override { return "/metrics"; }
  util::Result<Counters> read_counters(std::string_view text) const override;
  Moved moved(const Counters& before, const Counters& after,
              std::optional<long> output_tokens) const override;

 protected:
  OpenAiTraits traits() const override;
  void read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const override;
};

/// Parameters of the sampler that vLLM, SGLang and TensorRT-LLM know by the same names.
std::span<const ParameterName> datacentre_parameters();

}  // namespace paceline::dialect
