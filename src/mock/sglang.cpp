#include <fmt/format.h>

#include "mock/openai.hpp"

namespace paceline::mock {

namespace {

using util::Json;

double share(long a, long b) { return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 0; }

/// SGLang in three generations of names. Today's has them on the OpenAI routes too, where asked;
/// the older ones only in the meta_info of /generate. Counters move when a request ends by itself.
class SgLang : public OpenAi {
 public:
  explicit SgLang(int generation) : generation_(generation) {}

  bool generates(std::string_view path) const override {
    return path == "/generate" || OpenAi::generates(path);
  }
  CountsWhen counts_when() const override { return CountsWhen::at_natural_end; }

  std::optional<net::Response> other(const net::Request& request, State& state) const override {
    const auto path = path_of(request.target);
    if (request.method != "GET") return std::nullopt;
    if (path == "/get_model_info" || path == "/model_info")
      return json_response({{"model_path", state.truth.model},
                            {"tokenizer_path", state.truth.model},
                            {"is_generation", true}});
    if (path == "/get_server_info" || path == "/server_info")
      return json_response(server_info(state));
    if (path == "/metrics") return text_response(metrics(state));
    return OpenAi::other(request, state);
  }

  std::vector<std::string> begin(const State& state, Stream& stream) const override {
    return native(stream) ? std::vector<std::string>{} : OpenAi::begin(state, stream);
  }

  std::vector<std::string> tokens(const State& state, Stream& stream,
                                  std::size_t until) const override {
    if (!native(stream)) return OpenAi::tokens(state, stream, until);
    stream.take(until);
    return {sse(util::dump_json(native_answer(state, stream)))};
  }

  std::vector<std::string> end(const State& state, Stream& stream) const override {
    if (native(stream)) return {sse("[DONE]")};
    return OpenAi::end(state, stream);
  }

  Json whole(const State& state, Stream& stream) const override {
    return native(stream) ? native_answer(state, stream) : OpenAi::whole(state, stream);
  }

 protected:
  std::string_view owner() const override { return "sglang"; }

  Json model(const State& state) const override {
    Json model = OpenAi::model(state);
    model["root"] = state.truth.model;
    model["max_model_len"] = state.truth.context_per_slot;
    return model;
  }

  std::string event_members(const State&, const Stream& stream) const override {
    return usage_so_far(stream);
  }

  Json last_members(const State& state, const Stream& stream) const override {
    const bool asked = stream.asked.flag("return_spec_tokens_details");
    if (generation_ < 3 || !asked || !state.truth.speculates) return Json::object();
    return {{"sglext", {{"spec_tokens_details", speculation(state, stream)}}}};
  }

  Json last_choice_members(const State&, const Stream&) const override {
    return {{"matched_stop", nullptr}};
  }

 private:
  static bool native(const Stream& stream) { return stream.asked.endpoint == "/generate"; }

  Json speculation(const State& state, const Stream& stream) const {
    // The width it assumes for every pass, whatever was really drafted.
    const long assumed = stream.rounds * state.truth.draft_length;
    Json said = {{"spec_accept_rate", share(stream.accepted, assumed)},
                 {"spec_accept_length", share(static_cast<long>(stream.said), stream.rounds)}};
    constexpr const char* accepted[] = {"spec_accept_token_num", "spec_accepted_drafts",
                                        "spec_num_correct_drafts"};
    constexpr const char* proposed[] = {"spec_draft_token_num", "spec_proposed_drafts",
                                        "spec_num_proposed_drafts"};
    constexpr const char* histogram[] = {"spec_accept_histogram", "spec_accept_histogram",
                                         "spec_correct_drafts_histogram"};
    said[accepted[generation_ - 1]] = stream.accepted;
    said[proposed[generation_ - 1]] = stream.offered;
    said["spec_verify_ct"] = stream.rounds;
    said[histogram[generation_ - 1]] = stream.plan.accepted_lengths();
    return said;
  }

  Json native_answer(const State& state, const Stream& stream) const {
    Json ids = Json::array();
    for (std::size_t i = 0; i < stream.said; ++i) ids.push_back(stream.plan.tokens[i].id);
    const long tokens = stream.finished() && stream.usage_output > 0
                            ? stream.usage_output
                            : static_cast<long>(stream.said);
    Json info = {{"id", stream.id},
                 {"finish_reason", nullptr},
                 {"prompt_tokens", stream.plan.prompt_tokens},
                 {"cached_tokens", stream.plan.prompt_cached},
                 {"completion_tokens", tokens}};
    if (stream.finished()) {
      info["finish_reason"] = {{"type", stream.plan.ended_by_token ? "stop" : "length"}};
      info["e2e_latency"] = (stream.prompt_ms + stream.decode_ms) / 1e3;
      if (state.truth.speculates) info.update(speculation(state, stream));
    }
    const std::string text = stream.text(0, stream.said);
    return {
        {"text", text.substr(0, whole_characters(text))}, {"output_ids", ids}, {"meta_info", info}};
  }

  Json server_info(const State& state) const {
    const Counters& c = state.counters;
    // Keeps its last value when nothing runs.
    Json internal = {
        {"last_gen_throughput", c.decode_s > 0 ? static_cast<double>(c.output) / c.decode_s : 0.0}};
    if (state.truth.speculates)
      internal["avg_spec_accept_length"] = 1 + share(c.accepted, c.rounds);
    Json info = {{"model_path", state.truth.model},
                 {"version", "0.5.9"},
                 {"max_running_requests", state.truth.slots},
                 {"context_length", state.truth.context_per_slot},
                 {"speculative_algorithm", nullptr},
                 {"internal_states", {internal}}};
    if (!state.truth.speculates) return info;
    info["speculative_algorithm"] = "EAGLE";
    info["speculative_num_steps"] = state.truth.draft_length;
    info["speculative_eagle_topk"] = 1;
    info["speculative_num_draft_tokens"] = state.truth.draft_length + 1;
    return info;
  }

  static std::string metrics(const State& state) {
    const Counters& c = state.counters;
    const std::string labels = fmt::format(R"({{model_name="{}"}})", state.truth.model);
    const auto line = [&](std::string_view type, std::string_view name, double value) {
      return metric(type, fmt::format("sglang:{}", name), value, labels);
    };
    std::string text =
        line("counter", "prompt_tokens_total",
             static_cast<double>(c.prompt_tokens + c.prompt_cached)) +
        line("counter", "generation_tokens_total", static_cast<double>(c.output)) +
        line("counter", "cached_tokens_total", static_cast<double>(c.prompt_cached)) +
        line("counter", "num_requests_total", static_cast<double>(c.requests)) +
        line("gauge", "num_running_reqs", state.processing) +
        line("gauge", "num_queue_reqs", state.waiting) +
        fmt::format(
            "sglang:time_to_first_token_seconds_bucket{{le=\"5.0\",name=\"/models/{}/\"}} "
            "{}\n",
            state.truth.model, c.requests);
    if (!state.truth.speculates) return text;
    return text + line("gauge", "spec_accept_length", 1 + share(c.accepted, c.rounds)) +
           line("gauge", "spec_accept_rate",
                share(c.accepted, c.rounds * state.truth.draft_length)) +
           line("counter", "spec_verify_calls_total", static_cast<double>(c.rounds));
  }

  int generation_;
};

}  // namespace

std::unique_ptr<Renderer> make_sglang(int generation) {
  return std::make_unique<SgLang>(generation);
}

}  // namespace paceline::mock
