#include "mock/openai.hpp"

#include <fmt/format.h>

#include "mock/llama_server.hpp"

namespace paceline::mock {

namespace {

using util::Json;

std::string_view finish_reason(const Plan& plan) { return plan.ended_by_token ? "stop" : "length"; }

/// The members of an object as JSON text with a comma first; nothing of an empty one.
std::string members_of(const Json& object) {
  if (!object.is_object() || object.empty()) return "";
  const std::string text = util::dump_json(object);
  return "," + text.substr(1, text.size() - 2);
}

}  // namespace

bool OpenAi::generates(std::string_view path) const {
  return path == "/v1/completions" || path == "/v1/chat/completions";
}

std::optional<net::Response> OpenAi::other(const net::Request& request, State& state) const {
  if (request.method != "GET") return std::nullopt;
  const auto path = path_of(request.target);
  if (path == "/health") return text_response("");
  if (path != "/v1/models") return std::nullopt;
  return json_response({{"object", "list"}, {"data", {model(state)}}});
}

Json OpenAi::model(const State& state) const {
  return {{"id", state.truth.model},
          {"object", "model"},
          {"created", state.started_unix},
          {"owned_by", owner()}};
}

Json OpenAi::usage(const State& state, const Stream& stream) const {
  Json usage = usage_of(stream, true);
  if (state.truth.reasoning_tokens > 0)
    usage["completion_tokens_details"] = {
        {"reasoning_tokens", stream.reasoning(state.truth, stream.plan.tokens.size())}};
  return usage;
}

std::string OpenAi::choice_members(const Stream&, std::size_t, std::size_t) const { return ""; }
std::string OpenAi::event_members(const State&, const Stream&) const { return ""; }
Json OpenAi::last_members(const State&, const Stream&) const { return Json::object(); }
Json OpenAi::last_choice_members(const State&, const Stream&) const { return Json::object(); }

std::string OpenAi::usage_so_far(const Stream& stream) {
  if (!stream.asked.stream_option("continuous_usage_stats")) return "";
  return fmt::format(R"(,"usage":{{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}}})",
                     stream.plan.prompt_tokens,
                     stream.plan.prompt_tokens + static_cast<int>(stream.said), stream.said);
}

bool OpenAi::says_usage(const Stream& stream) const {
  return stream.asked.stream_option("include_usage");
}

std::string OpenAi::chunk(const Stream& stream, std::string_view delta, std::string_view members,
                          std::string_view more) const {
  return sse(fmt::format(R"({{{},"choices":[{{"index":0,{},"logprobs":null{}}}]{}}})",
                         stream.opening, delta, members, more));
}

std::vector<std::string> OpenAi::begin(const State& state, Stream& stream) const {
  stream.opening =
      fmt::format(R"("id":{},"object":"{}","created":{},"model":{})", json_text(stream.id),
                  stream.asked.chat ? "chat.completion.chunk" : "text_completion",
                  state.started_unix, json_text(state.truth.model));
  if (!stream.asked.chat) return {};
  return {chunk(stream, R"("delta":{"role":"assistant","content":""})", R"(,"finish_reason":null)",
                event_members(state, stream))};
}

std::vector<std::string> OpenAi::tokens(const State& state, Stream& stream,
                                        std::size_t until) const {
  const std::size_t from = stream.said;
  const std::size_t reasoned = stream.reasoning(state.truth, until);
  const std::string text = stream.take(until);
  if (text.empty() && !stream.finished()) return {};
  const std::string_view field = reasoned > from ? reasoning_field() : "content";
  const std::string delta = stream.asked.chat
                                ? fmt::format(R"("delta":{{"{}":{}}})", field, json_text(text))
                                : fmt::format(R"("text":{})", json_text(text));
  std::string members = choice_members(stream, from, until) + R"(,"finish_reason":)";
  members += stream.finished() ? fmt::format("\"{}\"", finish_reason(stream.plan)) : "null";
  if (stream.finished()) members += members_of(last_choice_members(state, stream));
  return {chunk(stream, delta, members, event_members(state, stream))};
}

std::vector<std::string> OpenAi::end(const State& state, Stream& stream) const {
  if (!says_usage(stream)) return {sse("[DONE]")};
  return {sse(fmt::format(R"({{{},"choices":[],"usage":{}{}}})", stream.opening,
                          usage(state, stream).dump(), members_of(last_members(state, stream)))),
          sse("[DONE]")};
}

Json OpenAi::whole(const State& state, Stream& stream) const {
  const std::size_t count = stream.plan.tokens.size();
  const std::size_t reasoned = stream.reasoning(state.truth, count);
  Json choice = {{"index", 0}};
  if (stream.asked.chat) {
    choice["message"] = {{"role", "assistant"}, {"content", stream.text(reasoned, count)}};
    if (reasoned > 0) choice["message"][reasoning_field()] = stream.text(0, reasoned);
  } else {
    choice["text"] = stream.plan.text();
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = finish_reason(stream.plan);
  choice.update(last_choice_members(state, stream));
  Json answer = {{"id", stream.id},
                 {"object", stream.asked.chat ? "chat.completion" : "text_completion"},
                 {"created", state.started_unix},
                 {"model", state.truth.model},
                 {"choices", {choice}},
                 {"usage", usage(state, stream)}};
  answer.update(last_members(state, stream));
  return answer;
}

std::unique_ptr<Renderer> make_openai() { return std::make_unique<OpenAi>(); }

}  // namespace paceline::mock
