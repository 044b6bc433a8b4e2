#include <fmt/format.h>

#include <map>

#include "mock/openai.hpp"

namespace paceline::mock {

namespace {

using util::Json;

/// What both generations of vLLM share: /version, the model's length, usage in every chunk on
/// request, token ids on request, reasoning under its short name.
class Vllm : public OpenAi {
 public:
  std::optional<net::Response> other(const net::Request& request, State& state) const override {
    const auto path = path_of(request.target);
    if (request.method == "GET" && path == "/version")
      return json_response({{"version", version()}});
    if (request.method == "GET" && path == "/metrics")
      return text_response(metrics(state), "text/plain; version=0.0.4; charset=utf-8");
    return OpenAi::other(request, state);
  }

  Json error(int status, std::string_view message) const override {
    return {{"error",
             {{"message", message},
              {"type", "InternalServerError"},
              {"param", nullptr},
              {"code", status}}}};
  }

 protected:
  virtual std::string version() const = 0;
  virtual std::string metrics(const State& state) const = 0;

  std::string_view owner() const override { return "vllm"; }
  std::string_view reasoning_field() const override { return "reasoning"; }

  Json model(const State& state) const override {
    Json model = OpenAi::model(state);
    model["root"] = state.truth.model;
    model["parent"] = nullptr;
    model["max_model_len"] = state.truth.context_per_slot;
    return model;
  }

  std::string choice_members(const Stream& stream, std::size_t from,
                             std::size_t until) const override {
    if (!stream.asked.flag("return_token_ids")) return "";
    std::string ids;
    for (std::size_t i = from; i < until; ++i)
      ids += fmt::format("{}{}", ids.empty() ? "" : ",", stream.plan.tokens[i].id);
    return fmt::format(R"(,"token_ids":[{}])", ids);
  }

  std::string event_members(const State&, const Stream& stream) const override {
    return usage_so_far(stream);
  }

  Json last_choice_members(const State&, const Stream&) const override {
    return {{"stop_reason", nullptr}};
  }

  static std::string labels(const State& state, std::string_view more = "") {
    return fmt::format(R"({{engine="0",model_name="{}"{}}})", state.truth.model, more);
  }

  /// A counter and the time it was made, which is no count of anything.
  static std::string counter(const State& state, std::string_view name, double value) {
    const std::string full = fmt::format("vllm:{}", name);
    return metric("counter", full + "_total", value, labels(state)) +
           metric("gauge", full + "_created", static_cast<double>(state.started_unix) + 0.5,
                  labels(state));
  }

  static std::string common_metrics(const State& state) {
    const Counters& c = state.counters;
    return metric("gauge", "vllm:num_requests_running", state.processing, labels(state)) +
           metric("gauge", "vllm:num_requests_waiting", state.waiting, labels(state)) +
           counter(state, "prompt_tokens", static_cast<double>(c.prompt_tokens + c.prompt_cached)) +
           counter(state, "generation_tokens", static_cast<double>(c.output)) +
           metric("counter", "vllm:request_success_total", static_cast<double>(c.requests),
                  labels(state, R"(,finished_reason="length")")) +
           metric("histogram", "vllm:iteration_tokens_total_count", static_cast<double>(c.forwards),
                  labels(state));
  }
};

class VllmV1 : public Vllm {
 public:
  explicit VllmV1(SpecMetrics per_request) : per_request_(per_request) {}

 protected:
  std::string version() const override { return "0.29.0"; }

  std::string metrics(const State& state) const override {
    const Counters& c = state.counters;
    std::string text = common_metrics(state) +
                       counter(state, "prefix_cache_hits", static_cast<double>(c.prompt_cached));
    if (!state.truth.speculates) return text;
    text += counter(state, "spec_decode_num_drafts", static_cast<double>(c.rounds)) +
            counter(state, "spec_decode_num_draft_tokens", static_cast<double>(c.offered)) +
            counter(state, "spec_decode_num_accepted_tokens", static_cast<double>(c.accepted));
    for (int i = 0; i < state.truth.draft_length; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const long accepted = at < c.accepted_at.size() ? c.accepted_at[at] : 0;
      text +=
          metric("counter", "vllm:spec_decode_num_accepted_tokens_per_pos_total",
                 static_cast<double>(accepted), labels(state, fmt::format(R"(,position="{}")", i)));
    }
    return text;
  }

  Json last_members(const State& state, const Stream& stream) const override {
    if (per_request_ == SpecMetrics::none || !state.truth.speculates) return Json::object();
    return {{"metrics", {{"speculative_decoding", speculation(state, stream)}}}};
  }

 private:
  Json speculation(const State& state, const Stream& stream) const {
    const Plan& plan = stream.plan;
    const auto ratio = [](long a, long b) -> Json {
      if (b == 0) return nullptr;
      return static_cast<double>(a) / static_cast<double>(b);
    };
    Json mean = nullptr;
    if (stream.rounds > 0)
      mean = 1.0 + static_cast<double>(stream.accepted) / static_cast<double>(stream.rounds);
    auto histogram = plan.accepted_lengths();
    histogram.resize(static_cast<std::size_t>(state.truth.draft_length) + 1);
    Json said = {{"mean_acceptance_length", mean},
                 {"draft_acceptance_rate", ratio(stream.accepted, stream.offered)},
                 {"acceptance_histogram", histogram},
                 {"acceptance_histogram_by_draft_length", by_length(plan)},
                 {"num_spec_steps", stream.rounds},
                 {"num_accepted_draft_tokens", stream.accepted},
                 {"num_draft_tokens", stream.offered},
                 {"num_spec_tokens", state.truth.draft_length}};
    if (per_request_ == SpecMetrics::detailed) add_steps(plan, said);
    return said;
  }

  static Json by_length(const Plan& plan) {
    std::map<int, Plan> apart;
    for (const Pass& pass : plan.passes)
      if (pass.offered > 0) apart[pass.offered].passes.push_back(pass);
    Json lengths = Json::object();
    for (const auto& [length, passes] : apart)
      lengths[std::to_string(length)] = passes.accepted_lengths();
    return lengths;
  }

  /// Steps without a draft are not in these lists.
  static void add_steps(const Plan& plan, Json& said) {
    said["per_step_accepted"] = said["per_step_drafted"] = Json::array();
    for (const Pass& pass : plan.passes) {
      if (pass.offered == 0) continue;
      said["per_step_accepted"].push_back(pass.accepted);
      said["per_step_drafted"].push_back(pass.offered);
    }
  }

  SpecMetrics per_request_;
};

/// Before V1: a rate that counts matches behind a mismatch too, and emitted tokens in its place.
class VllmV0 : public Vllm {
 protected:
  std::string version() const override { return "0.6.6"; }

  std::string metrics(const State& state) const override {
    std::string text = common_metrics(state);
    if (!state.truth.speculates) return text;
    const Counters& c = state.counters;
    const long emitted = c.accepted + c.rounds;
    const auto share = [](long a, long b) {
      return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 0.0;
    };
    return text +
           metric("gauge", "vllm:spec_decode_draft_acceptance_rate", share(c.accepted, c.offered),
                  labels(state)) +
           metric("gauge", "vllm:spec_decode_efficiency", share(emitted, c.offered + c.rounds),
                  labels(state)) +
           counter(state, "spec_decode_num_accepted_tokens", static_cast<double>(c.accepted)) +
           counter(state, "spec_decode_num_draft_tokens", static_cast<double>(c.offered)) +
           counter(state, "spec_decode_num_emitted_tokens", static_cast<double>(emitted));
  }
};

}  // namespace

std::unique_ptr<Renderer> make_vllm(SpecMetrics metrics) {
  return std::make_unique<VllmV1>(metrics);
}
std::unique_ptr<Renderer> make_vllm_v0() { return std::make_unique<VllmV0>(); }

}  // namespace paceline::mock
