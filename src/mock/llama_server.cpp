#include "mock/llama_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace paceline::mock {

namespace {

using util::Json;

bool native(const Stream& stream) {
  return stream.asked.endpoint == "/completion" || stream.asked.endpoint == "/completions";
}

std::string_view stop_type(const Plan& plan) { return plan.ended_by_token ? "eos" : "limit"; }
std::string_view finish_reason(const Plan& plan) { return plan.ended_by_token ? "stop" : "length"; }

double per_second(double count, double ms) { return ms > 0 ? count / ms * 1e3 : 0; }

double single(double value) { return static_cast<double>(static_cast<float>(value)); }

/// What /slots and the end of a request tell and /props does not.
void add_speculation(const State& state, Json& settings) {
  if (state.truth.speculates) settings["speculative.types"] = "none," + state.truth.spec_type;
}

Json slot_of(const State& state, int id) {
  Json slot = {{"id", id},
               {"n_ctx", state.truth.context_per_slot},
               {"speculative", state.truth.speculates},
               {"is_processing", id < state.processing}};
  if (state.tasks <= id) return slot;
  slot["id_task"] = state.tasks;
  slot["n_prompt_tokens"] = state.counters.longest;
  slot["n_prompt_tokens_processed"] = 0;
  slot["n_prompt_tokens_cache"] = 0;
  slot["params"] = llama_settings(state, nullptr);
  add_speculation(state, slot["params"]);
  slot["next_token"] = Json::array(
      {{{"has_next_token", false}, {"has_new_line", false}, {"n_remain", -1}, {"n_decoded", 0}}});
  return slot;
}

Json slots_of(const State& state) {
  Json slots = Json::array();
  for (int id = 0; id < state.truth.slots; ++id) slots.push_back(slot_of(state, id));
  return slots;
}

net::Response apply_template(const net::Request& request) {
  const auto body = util::parse_json(request.body, "the request");
  int images = 0;
  if (!body || !body->is_object() || !body->contains("messages"))
    return json_response({{"error",
                           {{"code", 400},
                            {"message", "'messages' is required"},
                            {"type", "invalid_request_error"}}}},
                         400);
  return json_response({{"prompt", template_of((*body)["messages"], images)}});
}

}  // namespace

Json usage_of(const Stream& stream, bool cached) {
  Json usage = {{"completion_tokens", stream.usage_output},
                {"prompt_tokens", stream.plan.prompt_tokens},
                {"total_tokens", stream.usage_output + stream.plan.prompt_tokens}};
  if (cached) usage["prompt_tokens_details"] = {{"cached_tokens", stream.plan.prompt_cached}};
  return usage;
}

Json llama_settings(const State& state, const Json& asked) {
  const Sampler& sampler = state.truth.sampler;
  Json settings = {{"seed", static_cast<std::uint32_t>(sampler.seed)},
                   {"temperature", single(sampler.temperature)},
                   {"dynatemp_range", 0.0},
                   {"dynatemp_exponent", 1.0},
                   {"top_k", sampler.top_k},
                   {"top_p", single(sampler.top_p)},
                   {"min_p", single(sampler.min_p)},
                   {"top_n_sigma", -1.0},
                   {"xtc_probability", 0.0},
                   {"xtc_threshold", single(0.1)},
                   {"typical_p", 1.0},
                   {"repeat_last_n", 64},
                   {"repeat_penalty", single(sampler.repeat_penalty)},
                   {"presence_penalty", 0.0},
                   {"frequency_penalty", 0.0},
                   {"dry_multiplier", 0.0},
                   {"dry_base", 1.75},
                   {"dry_allowed_length", 2},
                   {"dry_penalty_last_n", 64},
                   {"mirostat", 0},
                   {"mirostat_tau", 5.0},
                   {"mirostat_eta", single(0.1)},
                   {"adaptive_target", -1.0},
                   {"adaptive_decay", single(0.9)},
                   {"max_tokens", -1},
                   {"n_predict", -1},
                   {"n_keep", 0},
                   {"n_discard", 0},
                   {"ignore_eos", false},
                   {"stream", false},
                   {"n_probs", 0},
                   {"min_keep", 0},
                   {"chat_format", "Content-only"},
                   {"reasoning_format", "none"},
                   {"reasoning_in_content", false},
                   {"generation_prompt", ""},
                   {"samplers",
                    {"penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc",
                     "temperature"}},
                   {"speculative.types", "none"},
                   {"timings_per_token", false},
                   {"post_sampling_probs", false},
                   {"backend_sampling", false},
                   {"lora", Json::array()}};
  for (auto& [name, value] : settings.items())
    if (asked.is_object() && asked.contains(name))
      value = value.is_number_float() && asked[name].is_number() ? Json(single(asked[name]))
                                                                 : asked[name];
  return settings;
}

bool LlamaServer::generates(std::string_view path) const {
  static const std::set<std::string_view> routes = {"/completion", "/completions",
                                                    "/v1/completions", "/chat/completions",
                                                    "/v1/chat/completions"};
  return routes.contains(path);
}

std::optional<net::Response> LlamaServer::other(const net::Request& request, State& state) const {
  const auto path = path_of(request.target);
  if (path == "/apply-template" && request.method == "POST") return apply_template(request);
  if (request.method != "GET") return std::nullopt;
  if (path == "/health" || path == "/v1/health") return json_response({{"status", "ok"}});
  if (path == "/props") return json_response(props(state));
  if (path == "/slots") return json_response(slots_of(state));
  if (path == "/v1/models" || path == "/models") return json_response(models(state));
  if (path != "/metrics") return std::nullopt;
  auto response = text_response(metrics(state), "text/plain; version=0.0.4");
  response.headers.emplace_back("Process-Start-Time-Unix", std::to_string(state.started_unix));
  return response;
}

std::string LlamaServer::timings(const State&, const Stream& stream) const {
  const auto prompt = static_cast<double>(stream.prompt_done);
  // The first token is free: it comes with the prompt.
  const auto steps = static_cast<double>(std::max<std::size_t>(stream.said, 1) - 1);
  std::string text = fmt::format(
      R"({{"cache_n":{},"prompt_n":{},"prompt_ms":{},"prompt_per_token_ms":{},)"
      R"("prompt_per_second":{},"predicted_n":{},"predicted_ms":{},"predicted_per_token_ms":{},)"
      R"("predicted_per_second":{})",
      stream.plan.prompt_cached, stream.prompt_done, stream.prompt_ms,
      prompt > 0 ? stream.prompt_ms / prompt : 0.0, per_second(prompt, stream.prompt_ms),
      stream.said, stream.decode_ms, steps > 0 ? stream.decode_ms / steps : 0.0,
      per_second(steps, stream.decode_ms));
  if (stream.offered > 0)
    text += fmt::format(R"(,"draft_n":{},"draft_n_accepted":{})", stream.offered, stream.accepted);
  return text + "}";
}

Json LlamaServer::props(const State& state) const {
  return {
      {"default_generation_settings",
       {{"params", llama_settings(state, nullptr)}, {"n_ctx", state.truth.context_per_slot}}},
      {"total_slots", state.truth.slots},
      {"model_alias", state.truth.model},
      {"model_ftype", state.truth.quant},
      {"model_path", state.truth.model_path},
      {"modalities", {{"vision", state.truth.takes_images}, {"video", false}, {"audio", false}}},
      {"media_marker", "<__media__>"},
      {"endpoint_slots", true},
      {"endpoint_props", false},
      {"endpoint_metrics", true},
      {"ui", true},
      {"ui_settings", Json::object()},
      {"chat_template", "{{ messages }}"},
      {"chat_template_caps", Json::object()},
      {"bos_token", "<s>"},
      {"eos_token", "</s>"},
      {"build_info", state.build()},
      {"is_sleeping", false},
      {"cors_proxy_enabled", false}};
}

Json LlamaServer::models(const State& state) const {
  const Json model = {{"id", state.truth.model},
                      {"aliases", Json::array()},
                      {"object", "model"},
                      {"created", state.started_unix},
                      {"owned_by", "llamacpp"},
                      {"meta",
                       {{"vocab_type", 2},
                        {"n_vocab", 32000},
                        {"n_ctx", state.truth.context_per_slot},
                        {"n_ctx_train", 32768},
                        {"n_embd", 2048},
                        {"n_params", 1000000000},
                        {"size", 600000000},
                        {"ftype", state.truth.quant}}}};
  return {{"models", {{{"name", state.truth.model}, {"model", state.truth.model}}}},
          {"object", "list"},
          {"data", {model}}};
}

std::string LlamaServer::metrics(State& state) const {
  Counters& c = state.counters;
  const auto counter = [](std::string_view name, auto value) {
    return metric("counter", fmt::format("llamacpp:{}", name), static_cast<double>(value));
  };
  const auto gauge = [](std::string_view name, double value) {
    return metric("gauge", fmt::format("llamacpp:{}", name), value);
  };
  const auto rate = [](long count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
  };
  std::string text =
      counter("prompt_tokens_total", c.prompt_tokens) +
      counter("prompt_tokens_cached_total", c.prompt_cached) +
      counter("prompt_seconds_total", c.prompt_s) + counter("tokens_predicted_total", c.output) +
      counter("tokens_predicted_seconds_total", c.decode_s) +
      counter("n_decode_total", c.forwards) + counter("n_tokens_max", c.longest) +
      counter("spec_decode_num_draft_tokens_total", c.offered) +
      counter("spec_decode_num_accepted_tokens_total", c.accepted) +
      counter("spec_decode_num_drafts_total", c.rounds) +
      gauge("prompt_tokens_seconds", rate(c.bucket_prompt, c.bucket_prompt_s)) +
      gauge("predicted_tokens_seconds", rate(c.bucket_steps, c.bucket_decode_s)) +
      gauge("requests_processing", state.processing) + gauge("requests_deferred", state.waiting) +
      gauge("n_busy_slots_per_decode",
            static_cast<double>(c.busy_slots) / std::max(static_cast<double>(c.forwards), 1.0));
  const std::string per_position = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total";
  if (!c.accepted_at.empty())
    text += fmt::format("# HELP {0} Accepted tokens per draft position\n# TYPE {0} counter\n",
                        per_position);
  for (std::size_t i = 0; i < c.accepted_at.size(); ++i)
    text += fmt::format("{}{{position=\"{}\"}} {}\n", per_position, i, c.accepted_at[i]);
  // Reading the averages starts them anew.
  c.bucket_prompt = c.bucket_steps = 0;
  c.bucket_prompt_s = c.bucket_decode_s = 0;
  return text;
}

std::vector<std::string> LlamaServer::begin(const State& state, Stream& stream) const {
  const std::string fingerprint =
      says_fingerprint() ? fmt::format(R"("system_fingerprint":{},)", json_text(state.build()))
                         : "";
  stream.opening =
      fmt::format(R"("created":{},"id":{},"model":{},{}"object":"{}")", state.started_unix,
                  json_text(stream.id), json_text(state.truth.model), fingerprint,
                  stream.asked.chat ? "chat.completion.chunk" : "text_completion");
  return {};
}

std::vector<std::string> LlamaServer::prompt_batch(const State& state, Stream& stream) const {
  if (!stream.asked.flag("return_progress")) return {};
  std::string more = fmt::format(
      R"("prompt_progress":{{"total":{},"cache":{},"processed":{},"time_ms":{}}})",
      stream.plan.prompt_tokens, stream.plan.prompt_cached,
      stream.plan.prompt_cached + stream.prompt_done, static_cast<long>(stream.prompt_ms));
  if (stream.asked.flag("timings_per_token"))
    more = fmt::format(R"("timings":{},{})", timings(state, stream), more);
  if (stream.asked.chat)
    return {sse(delta(stream, R"("role":"assistant","content":null)", "", more))};
  if (!native(stream))
    return {sse(fmt::format(
        R"({{"choices":[{{"text":"","index":0,"logprobs":null,"finish_reason":null}}],{},{}}})",
        stream.opening, more))};
  // As the server has it, with a token 0 that was never made.
  return {sse(fmt::format(
      R"({{"index":0,"content":"","tokens":[0],"stop":false,"id_slot":-1,"tokens_predicted":0,)"
      R"("tokens_evaluated":{},{}}})",
      stream.plan.prompt_tokens, more))};
}

std::string LlamaServer::delta(const Stream& stream, std::string_view fields,
                               std::string_view finish, std::string_view more) const {
  return fmt::format(R"({{"choices":[{{"finish_reason":{},"index":0,"delta":{{{}}}}}],{}{}{}}})",
                     finish.empty() ? "null" : fmt::format("\"{}\"", finish), fields,
                     stream.opening, more.empty() ? "" : ",", more);
}

std::vector<std::string> LlamaServer::chat_tokens(const State& state, Stream& stream, bool first,
                                                  std::string_view timed) const {
  const std::string_view channel =
      stream.reasoning(state.truth, stream.said) == stream.said ? "reasoning_content" : "content";
  const std::string text = std::exchange(stream.held, {});
  std::vector<std::string> events;
  if (first)
    events.push_back(sse(delta(stream, R"("role":"assistant","content":null)", "",
                               text.empty() ? timed : std::string_view())));
  if (!text.empty())
    events.push_back(
        sse(delta(stream, fmt::format(R"("{}":{})", channel, json_text(text)), "", timed)));
  return events;
}

std::vector<std::string> LlamaServer::tokens(const State& state, Stream& stream,
                                             std::size_t until) const {
  const bool first = stream.said == 0;
  const std::size_t from = stream.said;
  const std::string text = stream.take(until);
  // The server sends nothing while the text ends inside a character.
  if (!stream.held.empty()) {
    stream.held.insert(0, text);
    return {};
  }
  std::string timed;
  if (stream.asked.flag("timings_per_token")) timed = "\"timings\":" + timings(state, stream);
  if (stream.asked.chat) {
    stream.held = text;
    return chat_tokens(state, stream, first, timed);
  }
  if (!timed.empty()) timed.insert(0, ",");
  if (!native(stream))
    return {sse(fmt::format(
        R"({{"choices":[{{"text":{},"index":0,"logprobs":null,"finish_reason":null}}],{}{}}})",
        json_text(text), stream.opening, timed))};
  std::string ids;
  // After a held token only the last id stands here; of a burst all do.
  for (std::size_t i = from; i < until; ++i)
    ids += fmt::format("{}{}", ids.empty() ? "" : ",", stream.plan.tokens[i].id);
  return {sse(fmt::format(
      R"({{"index":0,"content":{},"tokens":[{}],"stop":false,"id_slot":-1,"tokens_predicted":{},)"
      R"("tokens_evaluated":{}{}}})",
      json_text(text), ids, stream.said, stream.plan.prompt_tokens, timed))};
}

Json LlamaServer::native_final(const State& state, const Stream& stream) const {
  Json settings = llama_settings(state, stream.asked.body);
  if (stream.asked.limits.tokens)
    settings["n_predict"] = settings["max_tokens"] = *stream.asked.limits.tokens;
  add_speculation(state, settings);
  Json ids = Json::array();
  if (!stream.asked.stream && stream.asked.flag("return_tokens"))
    for (const Token& token : stream.plan.tokens) ids.push_back(token.id);
  return {{"index", 0},
          {"content", stream.asked.stream ? "" : stream.plan.text()},
          {"tokens", ids},
          {"id_slot", stream.slot},
          {"stop", true},
          {"model", state.truth.model},
          {"tokens_predicted", stream.usage_output},
          {"tokens_evaluated", stream.plan.prompt_tokens},
          {"generation_settings", settings},
          {"prompt", stream.asked.prompt},
          {"has_new_line", stream.plan.text().find('\n') != std::string::npos},
          {"truncated", stream.plan.prompt_truncated},
          {"stop_type", stop_type(stream.plan)},
          {"stopping_word", ""},
          {"tokens_cached", stream.plan.prompt_tokens + stream.plan.output_tokens() - 1},
          {"timings", Json::parse(timings(state, stream))}};
}

std::vector<std::string> LlamaServer::chat_end(const State& state, Stream& stream) const {
  const auto finish = finish_reason(stream.plan);
  const std::string timed = "\"timings\":" + timings(state, stream);
  if (!stream.asked.stream_option("include_usage"))
    return {sse(delta(stream, "", finish, timed)), sse("[DONE]")};
  return {sse(delta(stream, "", finish, "")),
          sse(fmt::format(R"({{"choices":[],{},"usage":{},{}}})", stream.opening,
                          usage_of(stream, true).dump(), timed)),
          sse("[DONE]")};
}

std::vector<std::string> LlamaServer::end(const State& state, Stream& stream) const {
  if (native(stream)) return {sse(util::dump_json(native_final(state, stream)))};
  if (stream.asked.chat) return chat_end(state, stream);
  return {sse(fmt::format(
              R"({{"choices":[{{"text":"","index":0,"logprobs":null,"finish_reason":"{}"}}],{},)"
              R"("usage":{},"timings":{}}})",
              finish_reason(stream.plan), stream.opening, usage_of(stream, true).dump(),
              timings(state, stream))),
          sse("[DONE]")};
}

Json LlamaServer::whole(const State& state, Stream& stream) const {
  if (native(stream)) return native_final(state, stream);
  Json choice = {{"finish_reason", finish_reason(stream.plan)}, {"index", 0}};
  if (stream.asked.chat) {
    const auto reasoned = stream.reasoning(state.truth, stream.plan.tokens.size());
    choice["message"] = {{"role", "assistant"},
                         {"content", stream.text(reasoned, stream.plan.tokens.size())}};
    if (reasoned > 0) choice["message"]["reasoning_content"] = stream.text(0, reasoned);
  } else {
    choice["text"] = stream.plan.text();
    choice["logprobs"] = nullptr;
  }
  Json answer = {{"choices", {choice}},
                 {"created", state.started_unix},
                 {"model", state.truth.model},
                 {"object", stream.asked.chat ? "chat.completion" : "text_completion"},
                 {"usage", usage_of(stream, true)},
                 {"id", stream.id},
                 {"timings", Json::parse(timings(state, stream))}};
  if (says_fingerprint()) answer["system_fingerprint"] = state.build();
  return answer;
}

Json LlamaServer::error(int status, std::string_view message) const {
  const char* type = status == 503   ? "unavailable_error"
                     : status == 400 ? "invalid_request_error"
                     : status == 401 ? "authentication_error"
                     : status == 404 ? "not_found_error"
                                     : "server_error";
  return {{"error", {{"code", status}, {"message", message}, {"type", type}}}};
}

std::unique_ptr<Renderer> make_llama_server() { return std::make_unique<LlamaServer>(); }

}  // namespace paceline::mock
