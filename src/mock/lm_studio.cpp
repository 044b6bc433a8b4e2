#include <fmt/format.h>

#include "mock/openai.hpp"

namespace paceline::mock {

namespace {

using util::Json;

std::string event(std::string_view name, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, util::dump_json(data));
}

/// LM Studio: /api/v0 with stats and drafts, /api/v1/chat with named events and none, and OpenAI's
/// routes with neither.
class LmStudio : public OpenAi {
 public:
  bool generates(std::string_view path) const override {
    return path == "/api/v0/chat/completions" || path == "/api/v0/completions" ||
           path == "/api/v1/chat" || OpenAi::generates(path);
  }
  bool event_per_token() const override { return true; }

  std::optional<net::Response> other(const net::Request& request, State& state) const override {
    const auto path = path_of(request.target);
    if (request.method != "GET") return std::nullopt;
    if (path == "/api/v0/models")
      return json_response({{"object", "list"}, {"data", {v0_model(state)}}});
    if (path == "/api/v1/models") return json_response({{"models", {v1_model(state)}}});
    if (path == "/health") return std::nullopt;
    return OpenAi::other(request, state);
  }

  std::vector<std::string> begin(const State& state, Stream& stream) const override {
    if (!v1(stream)) return OpenAi::begin(state, stream);
    return {event("chat.start", {{"type", "chat.start"}, {"model_instance_id", state.truth.model}}),
            event("prompt_processing.end", {{"type", "prompt_processing.end"}}),
            event("message.start", {{"type", "message.start"}})};
  }

  std::vector<std::string> tokens(const State& state, Stream& stream,
                                  std::size_t until) const override {
    if (!v1(stream)) return OpenAi::tokens(state, stream, until);
    const std::string text = stream.take(until);
    if (text.empty()) return {};
    return {event("message.delta", {{"type", "message.delta"}, {"content", text}})};
  }

  std::vector<std::string> end(const State& state, Stream& stream) const override {
    if (v1(stream))
      return {event("message.end", {{"type", "message.end"}}),
              event("chat.end", {{"type", "chat.end"}, {"result", v1_answer(state, stream)}})};
    return OpenAi::end(state, stream);
  }

  Json whole(const State& state, Stream& stream) const override {
    return v1(stream) ? v1_answer(state, stream) : OpenAi::whole(state, stream);
  }

 protected:
  std::string_view owner() const override { return "organization_owner"; }
  bool says_usage(const Stream& stream) const override {
    return v0(stream) || OpenAi::says_usage(stream);
  }

  Json last_members(const State& state, const Stream& stream) const override {
    if (!v0(stream)) return Json::object();
    return {{"stats", v0_stats(state, stream)},
            {"model_info",
             {{"arch", "llama"},
              {"quant", state.truth.quant},
              {"format", "gguf"},
              {"context_length", state.truth.context_per_slot}}},
            {"runtime",
             {{"name", "llama.cpp-linux-x86_64-avx2"},
              {"version", state.build()},
              {"supported_formats", {"gguf"}}}}};
  }

 private:
  static bool v0(const Stream& stream) { return stream.asked.endpoint.starts_with("/api/v0/"); }
  static bool v1(const Stream& stream) { return stream.asked.endpoint == "/api/v1/chat"; }

  static double tokens_per_second(const Stream& stream) {
    return stream.decode_ms > 0 ? static_cast<double>(stream.said) / stream.decode_ms * 1e3 : 0;
  }

  static Json v0_stats(const State& state, const Stream& stream) {
    Json stats = {
        {"tokens_per_second", tokens_per_second(stream)},
        {"time_to_first_token", stream.prompt_ms / 1e3},
        {"generation_time", stream.decode_ms / 1e3},
        {"stop_reason", stream.plan.ended_by_token ? "eosFound" : "maxPredictedTokensReached"}};
    if (!state.truth.speculates) return stats;
    stats["draft_model"] = state.truth.spec_type;
    stats["total_draft_tokens_count"] = stream.offered;
    stats["accepted_draft_tokens_count"] = stream.accepted;
    stats["rejected_draft_tokens_count"] = stream.offered - stream.accepted;
    stats["ignored_draft_tokens_count"] = 0;
    return stats;
  }

  static Json v0_model(const State& state) {
    return {{"id", state.truth.model},
            {"object", "model"},
            {"type", "llm"},
            {"publisher", "mock"},
            {"arch", "llama"},
            {"compatibility_type", "gguf"},
            {"quantization", state.truth.quant},
            {"state", "loaded"},
            {"max_context_length", 32768},
            {"loaded_context_length", state.truth.context_per_slot}};
  }

  static Json v1_model(const State& state) {
    return {{"type", "llm"},
            {"publisher", "mock"},
            {"key", state.truth.model},
            {"display_name", state.truth.model},
            {"architecture", "llama"},
            {"quantization", {{"name", state.truth.quant}, {"bits_per_weight", 4}}},
            {"loaded_instances",
             {{{"id", state.truth.model},
               {"config", {{"context_length", state.truth.context_per_slot}}}}}},
            {"max_context_length", 32768},
            {"format", "gguf"}};
  }

  static Json v1_answer(const State& state, const Stream& stream) {
    return {{"model_instance_id", state.truth.model},
            {"output", {{{"type", "message"}, {"content", stream.plan.text()}}}},
            {"stats",
             {{"input_tokens", stream.plan.prompt_tokens},
              {"total_output_tokens", stream.usage_output},
              {"reasoning_output_tokens", 0},
              {"tokens_per_second", tokens_per_second(stream)},
              {"time_to_first_token_seconds", stream.prompt_ms / 1e3}}},
            {"response_id", stream.id}};
  }
};

}  // namespace

std::unique_ptr<Renderer> make_lm_studio() { return std::make_unique<LmStudio>(); }

}  // namespace paceline::mock
