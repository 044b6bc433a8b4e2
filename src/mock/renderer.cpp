#include "mock/renderer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace paceline::mock {

namespace {

using Maker = std::function<std::unique_ptr<Renderer>()>;

const std::vector<std::pair<std::string, Maker>>& makers() {
  static const std::vector<std::pair<std::string, Maker>> all = {
      {"llama-server", make_llama_server},
      {"ik_llama.cpp", make_ik_llama},
      {"vllm", [] { return make_vllm(SpecMetrics::summary); }},
      {"vllm-detailed", [] { return make_vllm(SpecMetrics::detailed); }},
      {"vllm-plain", [] { return make_vllm(SpecMetrics::none); }},
      {"vllm-v0", make_vllm_v0},
      {"sglang", [] { return make_sglang(3); }},
      {"sglang-2", [] { return make_sglang(2); }},
      {"sglang-1", [] { return make_sglang(1); }},
      {"tensorrt-llm", make_tensorrt_llm},
      {"ollama", make_ollama},
      {"lm-studio", make_lm_studio},
      {"mlx-vlm", make_mlx_vlm},
      {"openai", make_openai},
  };
  return all;
}

int length_of_character(unsigned char first) {
  if (first >= 0xF0) return 4;
  if (first >= 0xE0) return 3;
  return first >= 0xC0 ? 2 : 1;
}

}  // namespace

std::string State::build() const {
  return number == 0 ? truth.build : fmt::format("{}-restart{}", truth.build, number);
}

std::string Stream::take(std::size_t until) {
  held += text(said, until);
  said = until;
  const std::size_t whole = whole_characters(held);
  const std::string ready = held.substr(0, whole);
  held.erase(0, whole);
  return ready;
}

std::string Stream::text(std::size_t from, std::size_t until) const {
  std::string text;
  for (std::size_t i = from; i < until; ++i) text += plan.tokens[i].text;
  return text;
}

std::size_t Stream::reasoning(const Truth& truth, std::size_t until) const {
  if (!asked.chat || truth.reasoning_tokens <= 0) return 0;
  return std::min(until, static_cast<std::size_t>(truth.reasoning_tokens));
}

std::vector<std::string> Renderer::prompt_batch(const State&, Stream&) const { return {}; }

util::Json Renderer::error(int status, std::string_view message) const {
  return {{"error", {{"message", message}, {"type", "server_error"}, {"code", status}}}};
}

net::Response json_response(const util::Json& body, int status) {
  return {status, {{"Content-Type", "application/json; charset=utf-8"}}, util::dump_json(body)};
}

net::Response text_response(std::string body, std::string type) {
  return {200, {{"Content-Type", std::move(type)}}, std::move(body)};
}

std::string sse(std::string_view data) { return fmt::format("data: {}\n\n", data); }

std::string json_text(std::string_view text) { return util::dump_json(util::Json(text)); }

std::size_t whole_characters(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto length =
        static_cast<std::size_t>(length_of_character(static_cast<unsigned char>(text[at])));
    if (at + length > text.size()) break;
    at += length;
  }
  return at;
}

std::string metric(std::string_view type, std::string_view name, double value,
                   std::string_view labels) {
  return fmt::format("# HELP {0} {0}\n# TYPE {0} {1}\n{0}{2} {3}\n", name, type, labels, value);
}

std::vector<std::string> renderer_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : makers()) names.push_back(name);
  return names;
}

std::unique_ptr<Renderer> make_renderer(std::string_view name) {
  for (const auto& [known, make] : makers())
    if (known == name) return make();
  return nullptr;
}

}  // namespace paceline::mock
