#include "dialect/dialect.hpp"

#include "dialect/ik_llama.hpp"
#include "dialect/llama_server.hpp"
#include "dialect/lm_studio.hpp"
#include "dialect/mlx_vlm.hpp"
#include "dialect/ollama.hpp"
#include "dialect/openai.hpp"
#include "dialect/sglang.hpp"
#include "dialect/tensorrt_llm.hpp"
#include "dialect/vllm.hpp"

namespace paceline::dialect {

std::optional<net::Request> Dialect::fact_request(const std::string&) const { return std::nullopt; }

void Dialect::read_fact_answer(const net::Response&, trace::EngineFacts&) const {}

std::optional<net::Request> Dialect::apply_template(
    const std::vector<protocol::ChatMessage>&) const {
  return std::nullopt;
}

util::Result<std::string> Dialect::read_template(const net::Response&) const {
  return util::fail(util::ErrorKind::engine,
                    std::string(name()) + " has no route that applies a template.");
}

std::optional<std::string> Dialect::counters_target() const { return std::nullopt; }

util::Result<Counters> Dialect::read_counters(std::string_view) const { return Counters{}; }

Moved Dialect::moved(const Counters&, const Counters&, std::optional<long>) const { return {}; }

const std::vector<std::unique_ptr<Dialect>>& all() {
  static const std::vector<std::unique_ptr<Dialect>> dialects = [] {
    std::vector<std::unique_ptr<Dialect>> list;
    list.push_back(std::make_unique<LlamaServer>());
    list.push_back(std::make_unique<IkLlama>());
    list.push_back(std::make_unique<Vllm>());
    list.push_back(std::make_unique<Sglang>());
    list.push_back(std::make_unique<TensorrtLlm>());
    list.push_back(std::make_unique<LmStudio>());
    list.push_back(std::make_unique<Ollama>());
    list.push_back(std::make_unique<MlxVlm>());
    list.push_back(std::make_unique<OpenAi>());
    return list;
  }();
  return dialects;
}

const Dialect* find(std::string_view name) {
  for (const auto& dialect : all())
    if (dialect->name() == name) return dialect.get();
  return nullptr;
}

// Never /metrics: on TensorRT-LLM a read empties it.
std::vector<std::string> probe_targets() {
  return {"/props",         "/v1/models",     "/version", "/api/version",
          "/api/v0/models", "/api/v1/models", "/health"};
}

std::optional<Choice> choose(const Answers& answers) {
  for (const auto& dialect : all())
    if (auto why = dialect->recognises(answers)) return Choice{dialect.get(), std::move(*why)};
  return std::nullopt;
}

}  // namespace paceline::dialect
