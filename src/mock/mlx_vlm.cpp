#include <algorithm>

#include "mock/openai.hpp"

namespace paceline::mock {

namespace {

using util::Json;

/// mlx-vlm: OpenAI's routes with llama-server's timings at the end, and rounds beside the drafts.
class MlxVlm : public OpenAi {
 public:
  std::optional<net::Response> other(const net::Request& request, State& state) const override {
    if (request.method == "GET" && path_of(request.target) == "/health")
      return json_response({{"status", "healthy"},
                            {"loaded_model", state.truth.model},
                            {"loaded_adapter", nullptr}});
    return OpenAi::other(request, state);
  }

 protected:
  std::string_view owner() const override { return "mlx-vlm"; }
  std::string_view reasoning_field() const override { return "reasoning"; }
  bool says_usage(const Stream&) const override { return true; }

  Json last_members(const State& state, const Stream& stream) const override {
    const auto rate = [](double count, double ms) { return ms > 0 ? count / ms * 1e3 : 0.0; };
    const auto n = static_cast<double>(stream.said);
    Json timings = {{"cache_n", stream.plan.prompt_cached},
                    {"prompt_n", stream.plan.prompt_processed},
                    {"prompt_ms", stream.prompt_ms},
                    {"prompt_per_second", rate(stream.plan.prompt_processed, stream.prompt_ms)},
                    {"predicted_n", stream.said},
                    {"predicted_ms", stream.decode_ms},
                    {"predicted_per_second", rate(n, stream.decode_ms)}};
    if (state.truth.speculates && stream.rounds > 0) {
      timings["draft_kind"] = "mtp";
      timings["draft_rounds"] = stream.rounds;
      timings["draft_n"] = stream.offered;
      timings["draft_n_accepted"] = stream.accepted;
    }
    return {{"timings", timings}};
  }
};

}  // namespace

std::unique_ptr<Renderer> make_mlx_vlm() { return std::make_unique<MlxVlm>(); }

}  // namespace paceline::mock
