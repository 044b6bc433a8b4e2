#include <fmt/format.h>

#include <cmath>

#include "mock/openai.hpp"

namespace paceline::mock {

namespace {

using util::Json;

constexpr const char* created_at = "2026-11-29T12:00:00.000000Z";
constexpr long load_duration = 144'586'102;

long nanoseconds(double ms) { return std::lround(ms * 1e6); }

/// Ollama: a JSON object a line, times in nanoseconds, no word of drafts; OpenAI's routes beside.
class Ollama : public OpenAi {
 public:
  bool generates(std::string_view path) const override {
    return path == "/api/generate" || path == "/api/chat" || OpenAi::generates(path);
  }
  Framing framing(const Asked& asked) const override {
    return native(asked) ? Framing::lines : Framing::sse;
  }
  bool streams(const Asked& asked) const override {
    return native(asked) ? asked.flag("stream", true) : asked.stream;
  }
  bool event_per_token() const override { return true; }

  std::optional<net::Response> other(const net::Request& request, State& state) const override {
    const auto path = path_of(request.target);
    if (path == "/api/show" && request.method == "POST") return json_response(show(state));
    if (request.method != "GET") return std::nullopt;
    if (path == "/") return text_response("Ollama is running");
    if (path == "/api/version") return json_response({{"version", state.build()}});
    if (path == "/api/tags") return json_response({{"models", {entry(state)}}});
    if (path == "/api/ps") return json_response({{"models", {loaded(state)}}});
    return OpenAi::other(request, state);
  }

  std::vector<std::string> begin(const State& state, Stream& stream) const override {
    if (!native(stream.asked)) return OpenAi::begin(state, stream);
    stream.opening =
        fmt::format(R"("model":{},"created_at":"{}")", json_text(state.truth.model), created_at);
    return {};
  }

  std::vector<std::string> tokens(const State& state, Stream& stream,
                                  std::size_t until) const override {
    if (!native(stream.asked)) return OpenAi::tokens(state, stream, until);
    const bool thinking = stream.reasoning(state.truth, until) > stream.said;
    const std::string text = stream.take(until);
    if (text.empty()) return {};
    std::string body = fmt::format(R"("response":{})", json_text(text));
    if (stream.asked.chat && thinking)
      body = fmt::format(R"("message":{{"role":"assistant","content":"","thinking":{}}})",
                         json_text(text));
    else if (stream.asked.chat)
      body = fmt::format(R"("message":{{"role":"assistant","content":{}}})", json_text(text));
    return {fmt::format("{{{},{},\"done\":false}}\n", stream.opening, body)};
  }

  std::vector<std::string> end(const State& state, Stream& stream) const override {
    if (!native(stream.asked)) return OpenAi::end(state, stream);
    return {util::dump_json(final(state, stream, "")) + "\n"};
  }

  Json whole(const State& state, Stream& stream) const override {
    if (!native(stream.asked)) return OpenAi::whole(state, stream);
    return final(state, stream, stream.plan.text());
  }

  Json error(int, std::string_view message) const override { return {{"error", message}}; }

 protected:
  std::string_view owner() const override { return "library"; }

 private:
  static bool native(const Asked& asked) { return asked.endpoint.starts_with("/api/"); }

  static Json details(const State& state) {
    return {{"parent_model", ""},       {"format", "gguf"},
            {"family", "llama"},        {"families", {"llama"}},
            {"parameter_size", "1.0B"}, {"quantization_level", state.truth.quant}};
  }

  static Json entry(const State& state) {
    return {{"name", state.truth.model},
            {"model", state.truth.model},
            {"size", 600000000},
            {"digest", "0000"},
            {"details", details(state)}};
  }

  static Json loaded(const State& state) {
    Json model = entry(state);
    model["size_vram"] = 0;
    model["context_length"] = state.truth.context_per_slot;
    return model;
  }

  static Json show(const State& state) {
    return {{"parameters", fmt::format("temperature {}\ntop_k {}", state.truth.sampler.temperature,
                                       state.truth.sampler.top_k)},
            {"template", "{{ .Prompt }}"},
            {"details", details(state)},
            {"model_info",
             {{"general.architecture", "llama"},
              {"general.file_type", 15},
              {"llama.context_length", 32768}}},
            {"capabilities",
             state.truth.takes_images ? Json{"completion", "vision"} : Json{"completion"}}};
  }

  static Json final(const State& state, const Stream& stream, const std::string& text) {
    const Plan& plan = stream.plan;
    Json last = {{"model", state.truth.model}, {"created_at", created_at}};
    if (stream.asked.chat)
      last["message"] = {{"role", "assistant"}, {"content", text}};
    else
      last["response"] = text;
    last["done"] = true;
    last["done_reason"] = plan.ended_by_token ? "stop" : "length";
    last["total_duration"] =
        load_duration + nanoseconds(stream.prompt_ms) + nanoseconds(stream.decode_ms);
    last["load_duration"] = load_duration;
    // The count is of the whole prompt, the duration of what was not cached.
    last["prompt_eval_count"] = plan.prompt_tokens;
    last["prompt_eval_duration"] = nanoseconds(stream.prompt_ms);
    if (plan.prompt_cached > 0) last["prompt_eval_cached_count"] = plan.prompt_cached;
    last["eval_count"] = stream.usage_output;
    last["eval_duration"] = nanoseconds(stream.decode_ms);
    return last;
  }
};

}  // namespace

std::unique_ptr<Renderer> make_ollama() { return std::make_unique<Ollama>(); }

}  // namespace paceline::mock
