#pragma once

#include "dialect/llama_routes.hpp"

namespace paceline::dialect {

/// ik_llama.cpp's server, a fork of llama.cpp's.
class IkLlama : public LlamaRoutes {
 public:
  std::string_view name() const override { return "ik_llama"; }
  std::vector<trace::Ability> abilities() const override;
  std::optional<std::string> recognises(const Answers& answers) const override;

 protected:
  std::optional<int> whole_context(const Fields& props) const override;
  void read_more_timings(const Fields& timings, Sayings& say) const override;
};

}  // namespace paceline::dialect
