#pragma once

#include "dialect/dialect.hpp"
#include "dialect/fields.hpp"
#include "dialect/quantities.hpp"

namespace paceline::dialect {

/// What llama-server and its forks have in common: the native route /completion, whose every
/// message has running totals, and OpenAI's chat route for images.
class LlamaRoutes : public Dialect {
 public:
  std::vector<std::string> fact_targets() const override { return {"/props", "/v1/models"}; }
  void read_facts(const Answers& answers, trace::EngineFacts& facts) const override;

  net::Request generate(const Ask& ask) const override;
  std::vector<std::string> cannot_ask(const Ask& ask) const override;
  std::optional<net::Request> apply_template(
      const std::vector<protocol::ChatMessage>& messages) const override;
  util::Result<std::string> read_template(const net::Response& answer) const override;
  util::Result<Message> read(std::string_view text) const override;

  std::optional<std::string> counters_target() const override { return "/metrics"; }
  util::Result<Counters> read_counters(std::string_view text) const override;
  Moved moved(const Counters& before, const Counters& after,
              std::optional<long> output_tokens) const override;

 protected:
  /// Abilities that all of them have.
  static AbilityList common_abilities();
  /// Context of the whole server from /props, where the server says it.
  virtual std::optional<int> whole_context(const Fields& props) const;
  /// What else the timings of a last message say.
  virtual void read_more_timings(const Fields& timings, Sayings& say) const;

 private:
  void read_native(const util::Json& json, Message& message) const;
  void read_props(const Fields& props, trace::EngineFacts& facts) const;
};

/// True for an answer of /props of llama.cpp's kind.
bool is_llama_props(const util::Json& props);

}  // namespace paceline::dialect
