#pragma once

#include "dialect/dialect.hpp"
#include "dialect/fields.hpp"

namespace paceline::dialect {

/// Ollama's own routes: JSON by lines, times in nanoseconds, and no word of drafts.
class Ollama : public Dialect {
 public:
  std::string_view name() const override { return "ollama"; }
  std::vector<trace::Ability> abilities() const override;
  std::optional<std::string> recognises(const Answers& answers) const override;
  std::vector<std::string> fact_targets() const override {
    return {"/api/version", "/api/ps", "/api/tags"};
  }
  void read_facts(const Answers& answers, trace::EngineFacts& facts) const override;
  std::optional<net::Request> fact_request(const std::string& model) const override;
  void read_fact_answer(const net::Response& answer, trace::EngineFacts& facts) const override;

  net::Request generate(const Ask& ask) const override;
  std::vector<std::string> cannot_ask(const Ask& ask) const override;
  Framing framing() const override { return Framing::lines; }
  util::Result<Message> read(std::string_view text) const override;
};

}  // namespace paceline::dialect
