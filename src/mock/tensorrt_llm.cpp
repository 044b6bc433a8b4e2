#include <fmt/format.h>

#include "mock/openai.hpp"

namespace paceline::mock {

namespace {

using util::Json;

/// TensorRT-LLM: Prometheus text away from /metrics, whose JSON is emptied by reading it.
class TensorRt : public OpenAi {
 public:
  CountsWhen counts_when() const override { return CountsWhen::at_natural_end; }

  std::optional<net::Response> other(const net::Request& request, State& state) const override {
    const auto path = path_of(request.target);
    if (request.method != "GET") return std::nullopt;
    if (path == "/version") return json_response({{"version", "1.2.0"}});
    if (path == "/prometheus/metrics") return text_response(metrics(state));
    if (path == "/metrics") return drained(state);
    return OpenAi::other(request, state);
  }

 protected:
  std::string_view owner() const override { return "tensorrt_llm"; }

  std::string event_members(const State&, const Stream& stream) const override {
    return usage_so_far(stream);
  }

  Json last_choice_members(const State&, const Stream& stream) const override {
    const auto passes = static_cast<double>(stream.plan.target_passes());
    if (passes <= 0) return Json::object();
    return {{"avg_decoded_tokens_per_iter",
             static_cast<double>(stream.plan.output_tokens() - 1) / passes}};
  }

  Json last_members(const State& state, const Stream& stream) const override {
    if (!state.truth.speculates) return Json::object();
    Json rate = nullptr;
    if (stream.offered > 0)
      rate = static_cast<double>(stream.accepted) / static_cast<double>(stream.offered);
    auto histogram = stream.plan.accepted_lengths();
    histogram.resize(static_cast<std::size_t>(state.truth.draft_length) + 1);
    return {{"speculative_decoding",
             {{"acceptance_rate", rate},
              {"total_accepted_draft_tokens", stream.accepted},
              {"total_draft_tokens", stream.offered},
              {"num_spec_steps", stream.rounds},
              {"acceptance_histogram", histogram},
              {"num_spec_tokens", state.truth.draft_length}}}};
  }

 private:
  /// Whoever reads this takes it away from everybody else.
  static net::Response drained(State& state) {
    ++state.drained_reads;
    return json_response(
        {{{"iter", 60},
          {"iterLatencyMS", 13.02},
          {"inflightBatchingStats",
           {{"avgNumDecodedTokensPerIter", 1.0}, {"numGenRequests", state.processing}}},
          {"kvCacheStats", Json::object()},
          {"specDecodingStats", nullptr},
          {"timestamp", "07-25-2025 16:54:34.140189"}}});
  }

  static std::string metrics(const State& state) {
    const Counters& c = state.counters;
    const auto counter = [](std::string_view name, double value, std::string_view labels = "") {
      return metric("counter", fmt::format("trtllm_{}_total", name), value, labels);
    };
    std::string text = counter("request_success", static_cast<double>(c.requests),
                               R"({finished_reason="length"})");
    if (!state.truth.speculates) return text;
    text +=
        counter("spec_decode_num_draft_tokens", static_cast<double>(c.offered)) +
        counter("spec_decode_num_accepted_tokens", static_cast<double>(c.accepted)) +
        metric(
            "gauge", "trtllm_spec_decode_acceptance_length",
            c.rounds > 0 ? 1 + static_cast<double>(c.accepted) / static_cast<double>(c.rounds) : 0);
    for (std::size_t i = 0; i < c.offered_at.size(); ++i) {
      const std::string label = fmt::format(R"({{token_position="{}"}})", i);
      text += counter("spec_decode_drafted_tokens", static_cast<double>(c.offered_at[i]), label) +
              counter("spec_decode_accepted_tokens", static_cast<double>(c.accepted_at[i]), label);
    }
    return text;
  }
};

}  // namespace

std::unique_ptr<Renderer> make_tensorrt_llm() { return std::make_unique<TensorRt>(); }

}  // namespace paceline::mock
