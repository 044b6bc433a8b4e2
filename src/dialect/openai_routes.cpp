#include "dialect/openai_routes.hpp"

#include <algorithm>

namespace paceline::dialect {

namespace {

util::Json openai_message(const protocol::ChatMessage& message) {
  if (message.images.empty()) return {{"role", message.role}, {"content", message.content}};
  util::Json parts = util::Json::array();
  parts.push_back({{"type", "text"}, {"text", message.content}});
  for (const std::string& image : message.images)
    parts.push_back({{"type", "image_url"}, {"image_url", {{"url", image}}}});
  return {{"role", message.role}, {"content", std::move(parts)}};
}

/// Puts the prompt in and says the route that takes it.
std::string put_prompt(const protocol::Generate& job, std::string_view prefix, util::Json& body) {
  if (!job.prompt_tokens.empty())
    body["prompt"] = job.prompt_tokens;
  else if (job.messages.empty())
    body["prompt"] = job.prompt;
  else
    body["messages"] = openai_messages(job.messages);
  return std::string(prefix) + (body.contains("messages") ? "/chat/completions" : "/completions");
}

}  // namespace

net::Request openai_request(const Ask& ask, const OpenAiTraits& traits) {
  util::Json body = util::Json::object();
  if (!ask.model.empty()) body["model"] = ask.model;
  std::string target = put_prompt(ask.job, traits.prefix, body);
  body["stream"] = true;
  body["max_tokens"] = ask.job.n_predict;
  put_sampling(ask, traits.parameters, body);
  if (ask.job.ignore_eos && traits.ignores_eos) body["ignore_eos"] = true;
  body["seed"] = ask.job.seed;
  body["stream_options"] = {{"include_usage", true}};
  if (traits.usage_in_every_message) body["stream_options"]["continuous_usage_stats"] = true;
  if (traits.asks_for != nullptr) body[traits.asks_for] = true;
  return json_request(std::move(target), body);
}

std::vector<std::string> openai_cannot_ask(const Ask& ask, const OpenAiTraits& traits) {
  std::vector<std::string> missing = without_name(ask.job.sampling, traits.parameters);
  if (ask.job.ignore_eos && !traits.ignores_eos) missing.emplace_back("ignore_eos");
  const bool ids = !ask.job.prompt_tokens.empty();
  if (ids && !traits.token_prompts) missing.emplace_back("prompt_tokens");
  if (!ids && ask.job.messages.empty() && !traits.text_route)
    missing.emplace_back("a prompt as text");
  return missing;
}

util::Json openai_messages(const std::vector<protocol::ChatMessage>& messages) {
  util::Json list = util::Json::array();
  for (const auto& message : messages) list.push_back(openai_message(message));
  return list;
}

bool has_images(const protocol::Generate& job) {
  return std::any_of(job.messages.begin(), job.messages.end(),
                     [](const auto& message) { return !message.images.empty(); });
}

net::Request json_request(std::string target, const util::Json& body) {
  net::Request request;
  request.method = "POST";
  request.target = std::move(target);
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = util::dump_json(body);
  return request;
}

std::optional<util::Json> answer_object(const Answers& answers, const std::string& target) {
  const auto found = answers.find(target);
  if (found == answers.end() || found->second.status != 200) return std::nullopt;
  auto json = parse_object(found->second.body, target);
  return json ? std::optional(std::move(*json)) : std::nullopt;
}

std::string model_owner(const Answers& answers) {
  const auto json = answer_object(answers, "/v1/models");
  if (!json) return "";
  std::vector<std::string> ignored;
  const Fields root(*json, "", ignored);
  const util::Json* data = root.array("data");
  if (data == nullptr || data->empty()) return "";
  return Fields(data->front(), "", ignored).line("owned_by").value_or("");
}

void read_models(const Answers& answers, std::string_view target, trace::EngineFacts& facts) {
  const auto json = answer_object(answers, std::string(target));
  if (!json) return;
  const Fields root(*json, std::string(target), facts.target.oddities);
  const util::Json* data = root.array("data");
  if (data == nullptr || data->empty()) return;
  const Fields model(data->front(), root.path("data[0]"), facts.target.oddities);
  const auto id = model.line("id");
  if (id && facts.server) facts.server->model = *id;
  if (id && facts.target.name.empty()) facts.target.name = *id;
  if (const auto root_path = model.line("root"); root_path && facts.target.path.empty())
    facts.target.path = *root_path;
  if (const auto context = model.small_count("max_model_len")) facts.n_ctx = *context;
}

trace::ServerFacts& server_facts(const Dialect& dialect, trace::EngineFacts& facts) {
  if (!facts.server) facts.server.emplace();
  facts.server->dialect = dialect.name();
  facts.server->abilities = dialect.abilities();
  return *facts.server;
}

util::Result<Message> OpenAiRoutes::read(std::string_view text) const {
  Message message;
  if (is_done_mark(text)) return message;
  PACELINE_TRY_ASSIGN(const util::Json json, parse_message(text, message.oddities));
  const OpenAiShape shape = read_openai_message(json, traits().prefix, message);
  read_more(json, shape, message);
  settle(shape.last, message);
  return message;
}

void OpenAiRoutes::read_more(const util::Json&, const OpenAiShape&, Message&) const {}

}  // namespace paceline::dialect
