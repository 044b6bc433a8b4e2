#include <fmt/format.h>

#include "mock/llama_server.hpp"

namespace paceline::mock {

namespace {

using util::Json;

double per_second(double count, double ms) { return ms > 0 ? count / ms * 1e3 : 0; }

/// As its JSON library writes a division by nothing.
std::string ratio(double part, double whole) {
  return whole > 0 ? fmt::format("{}", part / whole) : "null";
}

/// ik_llama.cpp's fork of the server: rates over all tokens, drafts by depth, no cache_n, no build
/// id anywhere, /props with flat settings, counters without decodes and drafts.
class IkLlama : public LlamaServer {
 protected:
  bool says_fingerprint() const override { return false; }

  std::string timings(const State& state, const Stream& stream) const override {
    const auto n = static_cast<double>(stream.said);
    std::string text = fmt::format(
        R"({{"prompt_n":{},"prompt_ms":{},"prompt_per_token_ms":{},"prompt_per_second":{},)"
        R"("predicted_n":{},"predicted_ms":{},"predicted_per_token_ms":{},)"
        R"("predicted_per_second":{},"n_ctx":{},"n_past":{})",
        stream.plan.prompt_processed, stream.prompt_ms,
        ratio(stream.prompt_ms, stream.plan.prompt_processed),
        per_second(stream.plan.prompt_processed, stream.prompt_ms), stream.said, stream.decode_ms,
        ratio(stream.decode_ms, n), per_second(n, stream.decode_ms), state.truth.context_per_slot,
        stream.plan.prompt_tokens + static_cast<int>(stream.said));
    if (stream.offered > 0)
      text += fmt::format(R"(,"draft_n":{},"draft_n_accepted":{},"draft_by_depth":{})",
                          stream.offered, stream.accepted, by_depth(stream).dump());
    return text + "}";
  }

  Json props(const State& state) const override {
    Json settings = llama_settings(state, nullptr);
    settings.erase("speculative.types");
    settings["n_ctx"] = state.truth.context_per_slot;
    settings["model"] = state.truth.model;
    return {{"system_prompt", ""},
            {"model_alias", state.truth.model},
            {"model_path", state.truth.model_path},
            {"default_generation_settings", settings},
            {"total_slots", state.truth.slots},
            {"model_name", state.truth.model + ".gguf"},
            {"chat_template", "{{ messages }}"},
            {"bos_token", "<s>"},
            {"eos_token", "</s>"},
            {"modalities", {{"vision", state.truth.takes_images}, {"audio", false}}},
            {"n_ctx", state.truth.context_per_slot * state.truth.slots}};
  }

  std::string metrics(State& state) const override {
    const Counters& c = state.counters;
    const auto counter = [](std::string_view name, double value) {
      return metric("counter", fmt::format("llamacpp:{}", name), value);
    };
    return counter("prompt_tokens_total", static_cast<double>(c.prompt_tokens)) +
           counter("prompt_seconds_total", c.prompt_s) +
           counter("tokens_predicted_total", static_cast<double>(c.output)) +
           counter("tokens_predicted_seconds_total", c.decode_s) +
           metric("gauge", "llamacpp:requests_processing", state.processing) +
           metric("gauge", "llamacpp:requests_deferred", state.waiting);
  }

 private:
  /// Of the passes so far, depths from 1.
  static Json by_depth(const Stream& stream) {
    Plan so_far;
    so_far.passes.assign(stream.plan.passes.begin(),
                         stream.plan.passes.begin() + static_cast<std::ptrdiff_t>(stream.passes));
    const auto offered = so_far.offered_at();
    const auto accepted = so_far.accepted_at();
    Json rows = Json::array();
    for (std::size_t i = 0; i < offered.size(); ++i)
      if (offered[i] > 0)
        rows.push_back(
            {{"depth", i + 1}, {"draft_n", offered[i]}, {"draft_n_accepted", accepted[i]}});
    return rows;
  }
};

}  // namespace

std::unique_ptr<Renderer> make_ik_llama() { return std::make_unique<IkLlama>(); }

}  // namespace paceline::mock
