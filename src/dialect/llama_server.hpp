#pragma once

#include "dialect/llama_routes.hpp"

namespace paceline::dialect {

/// llama.cpp's own server.
class LlamaServer : public LlamaRoutes {
 public:
  std::string_view name() const override { return "llama-server"; }
  std::vector<trace::Ability> abilities() const override;
  std::optional<std::string> recognises(const Answers& answers) const override;
};

}  // namespace paceline::dialect
