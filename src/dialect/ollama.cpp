#include "dialect/ollama.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "dialect/openai_routes.hpp"
#include "dialect/quantities.hpp"
#include "dialect/sampling.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr std::array parameters = {
    ParameterName{"temp", "temperature"},
    ParameterName{"top_k", "top_k"},
    ParameterName{"top_p", "top_p"},
    ParameterName{"min_p", "min_p"},
    ParameterName{"typical_p", "typical_p"},
    ParameterName{"penalty_last_n", "repeat_last_n"},
    ParameterName{"penalty_repeat", "repeat_penalty"},
    ParameterName{"penalty_freq", "frequency_penalty"},
    ParameterName{"penalty_present", "presence_penalty"},
};

constexpr double nanoseconds = 1e9;
// No engine is as fast: what is faster was counted in another unit.
constexpr double fastest_decode = 1e5;
constexpr double fastest_prefill = 1e7;

/// The base64 part of a data: URL; nothing when it is none.
std::optional<std::string> image_bytes(const std::string& url) {
  const auto comma = url.find(',');
  if (!url.starts_with("data:") || comma == std::string::npos) return std::nullopt;
  if (std::string_view(url).substr(0, comma).find(";base64") == std::string_view::npos)
    return std::nullopt;
  return url.substr(comma + 1);
}

util::Json message_json(const protocol::ChatMessage& message) {
  util::Json json = {{"role", message.role}, {"content", message.content}};
  for (const std::string& url : message.images)
    if (auto bytes = image_bytes(url)) json["images"].push_back(std::move(*bytes));
  return json;
}

struct Times {
  std::optional<double> total;
  std::optional<double> load;
  std::optional<double> prompt;
  std::optional<double> decode;
};

Times read_times(const Fields& root) {
  const auto seconds = [&](const char* key) {
    const auto ns = root.amount(key);
    return ns ? std::optional(*ns / nanoseconds) : std::nullopt;
  };
  return {seconds("total_duration"), seconds("load_duration"), seconds("prompt_eval_duration"),
          seconds("eval_duration")};
}

bool too_fast(std::optional<long> tokens, std::optional<double> time, double limit) {
  return tokens && time && *time > 0 && static_cast<double>(*tokens) / *time > limit;
}

/// Servers that imitate Ollama give milliseconds, or constants. Says what shows it.
const char* what_is_wrong(const Times& times, std::optional<long> prompt,
                          std::optional<long> output) {
  const double parts = times.load.value_or(0) + times.prompt.value_or(0) + times.decode.value_or(0);
  if (times.total && parts > *times.total * 1.001 + 0.001)
    return "the parts of total_duration are longer than the whole";
  if (too_fast(output, times.decode, fastest_decode) ||
      too_fast(prompt, times.prompt, fastest_prefill))
    return "its durations are shorter than any engine takes: they are not in nanoseconds";
  return nullptr;
}

struct Counts {
  std::optional<long> prompt;
  std::optional<long> cached;
  std::optional<long> output;
};

/// A prompt of 0 tokens is no count: old builds leave it at 0 when a cache had all of it.
Counts read_counts(const Fields& root) {
  Counts counts{root.count("prompt_eval_count"), root.count("prompt_eval_cached_count"),
                root.count("eval_count")};
  if (counts.prompt != 0) return counts;
  root.odd("prompt_eval_count", "is 0, which no prompt has: it is taken as not said");
  counts.prompt.reset();
  return counts;
}

void say_prompt(const Counts& counts, Sayings& say, Message& message) {
  say.add(Quantity::prompt_tokens, counts.prompt, "prompt_eval_count", "cached tokens are in it");
  say.add(Quantity::prompt_cached, counts.cached, "prompt_eval_cached_count");
  if (!counts.prompt || !counts.cached) return;
  if (*counts.cached > *counts.prompt)
    return add_oddity(message.oddities, "prompt_eval_cached_count is more than prompt_eval_count");
  say.add(Quantity::prompt_processed, std::optional(*counts.prompt - *counts.cached),
          "prompt_eval_count", "prompt_eval_count less prompt_eval_cached_count");
}

void read_last(const Fields& root, const std::string& endpoint, Message& message) {
  const auto reason = root.line("done_reason");
  message.stop = !reason || *reason == "stop" ? trace::StopReason::eos
                 : *reason == "length"        ? trace::StopReason::limit
                                              : trace::StopReason::none;
  if (reason && message.stop == trace::StopReason::none)
    add_oddity(message.oddities, "done_reason is \"" + *reason + "\": nothing was generated");
  if (!reason) message.stop = trace::StopReason::none;  // older builds do not say why
  const Counts counts = read_counts(root);
  Times times = read_times(root);
  if (const char* wrong = what_is_wrong(times, counts.prompt, counts.output)) {
    add_oddity(message.oddities, wrong);
    times = {};
  }
  message.chunk.output_tokens = counts.output;
  Sayings say(message.said, endpoint);
  say.add(Quantity::output_tokens, counts.output, "eval_count");
  say_prompt(counts, say, message);
  say.add(Quantity::prefill_s, times.prompt, "prompt_eval_duration",
          "nanoseconds, of the tokens that were processed");
  say.add(Quantity::decode_s, times.decode, "eval_duration", "nanoseconds");
}

const char* our_name(std::string_view theirs) {
  for (const ParameterName& name : parameters)
    if (theirs == name.theirs) return name.ours;
  return nullptr;
}

/// Lines "temperature 0.6" of a model's own defaults; others, as stop words, are none of ours.
void read_parameters(const std::string& text, trace::EngineFacts& facts) {
  std::istringstream lines(text.substr(0, 100000));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::string number;
    words >> name >> number;
    double value = 0;
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, value);
    if (number.empty() || error != std::errc() || stop != end) continue;
    if (const char* ours = our_name(name))
      facts.sampling.settings.push_back({ours, value, trace::Origin::server});
    if (name == "draft_num_predict" && value >= 0 && value <= 4096)
      facts.server->draft_n_max = static_cast<int>(value);
  }
}

/// The only model of a list; nothing when there are more or none.
std::optional<util::Json> only_model(const Answers& answers, const char* target) {
  auto json = answer_object(answers, target);
  if (!json) return std::nullopt;
  const auto models = json->find("models");
  if (models == json->end() || !models->is_array() || models->size() != 1) return std::nullopt;
  return std::move(models->front());
}

void read_model(const Fields& model, trace::EngineFacts& facts) {
  if (auto name = model.line("name")) {
    facts.target.name = *name;
    facts.server->model = std::move(*name);
  }
  if (auto quant = model.object("details").line("quantization_level"))
    facts.server->quant = std::move(*quant);
  if (const auto context = model.small_count("context_length")) {
    facts.n_ctx = *context;
    facts.server->n_ctx_slot = *context;
  }
}

bool has_capability(const Fields& root, const char* wanted) {
  const util::Json* list = root.array("capabilities");
  return list != nullptr && std::find(list->begin(), list->end(), wanted) != list->end();
}

}  // namespace

std::vector<trace::Ability> Ollama::abilities() const {
  const char* drafts = "Ollama says nothing of drafts, though it can speculate";
  return AbilityList(drafts)
      .can(Quantity::output_tokens, "eval_count")
      .can(Quantity::prompt_tokens, "prompt_eval_count, cached tokens included")
      .can(Quantity::prompt_cached, "prompt_eval_cached_count, of newer builds")
      .can(Quantity::prompt_processed, "prompt_eval_count less prompt_eval_cached_count, likewise")
      .can(Quantity::prefill_s, "prompt_eval_duration")
      .can(Quantity::decode_s, "eval_duration")
      .can(Quantity::draft_n_max, "draft_num_predict of /api/show, where the model sets it")
      .cannot(Quantity::passes, "not without accepted tokens, of which Ollama says nothing")
      .cannot(Quantity::passes_plain, "not without accepted tokens, of which Ollama says nothing")
      .cannot(Quantity::decodes, "its engine's counters are not reachable")
      .cannot(Quantity::reasoning_tokens, "thinking and content are counted together")
      .cannot(Quantity::ttft_s, "load_duration and prompt_eval_duration leave out what is between")
      .cannot(Quantity::tokens_per_s, "it states no rate: eval_count over eval_duration is usual")
      .list();
}

std::optional<std::string> Ollama::recognises(const Answers& answers) const {
  const auto version = answer_object(answers, "/api/version");
  if (!version) return std::nullopt;
  const auto text = version->find("version");
  if (text == version->end() || !text->is_string()) return std::nullopt;
  return "/api/version says a version";
}

void Ollama::read_facts(const Answers& answers, trace::EngineFacts& facts) const {
  server_facts(*this, facts);
  facts.engine = "Ollama";
  if (const auto version = answer_object(answers, "/api/version"))
    facts.version =
        Fields(*version, "/api/version", facts.target.oddities).line("version").value_or("");
  for (const char* target : {"/api/tags", "/api/ps"})  // what is loaded says more
    if (const auto model = only_model(answers, target))
      read_model(Fields(*model, std::string(target) + ".models[0]", facts.target.oddities), facts);
}

std::optional<net::Request> Ollama::fact_request(const std::string& model) const {
  return json_request("/api/show", {{"model", model}});
}

void Ollama::read_fact_answer(const net::Response& answer, trace::EngineFacts& facts) const {
  server_facts(*this, facts);
  const auto json = answer_object({{"/api/show", answer}}, "/api/show");
  if (!json) return;
  trace::ServerFacts& server = *facts.server;
  const Fields root(*json, "/api/show", facts.target.oddities);
  if (auto quant = root.object("details").line("quantization_level"))
    server.quant = std::move(*quant);
  const Fields info = root.object("model_info");
  facts.target.architecture = info.line("general.architecture").value_or("");
  if (const auto parameters_count = info.count("general.parameter_count"))
    facts.target.parameters = static_cast<std::uint64_t>(*parameters_count);
  const std::string context = facts.target.architecture + ".context_length";
  facts.target.context_train = info.small_count(context.c_str());
  if (const auto chat_template = root.text("template"))
    facts.target.has_chat_template = !chat_template->empty();
  if (root.has("capabilities")) server.takes_images = has_capability(root, "vision");
  if (const auto text = root.text("parameters")) read_parameters(*text, facts);
}

net::Request Ollama::generate(const Ask& ask) const {
  util::Json body = {{"model", ask.model}};
  const bool chat = !ask.job.messages.empty();
  if (chat) {
    body["messages"] = util::Json::array();
    for (const auto& message : ask.job.messages) body["messages"].push_back(message_json(message));
  } else {
    body["prompt"] = ask.job.prompt;
    body["raw"] = true;  // or the model's template would be put around it
  }
  body["stream"] = true;
  util::Json options = {{"num_predict", ask.job.n_predict}};
  put_sampling(ask, parameters, options);
  options["seed"] = ask.job.seed;
  body["options"] = std::move(options);
  return json_request(chat ? "/api/chat" : "/api/generate", body);
}

std::vector<std::string> Ollama::cannot_ask(const Ask& ask) const {
  std::vector<std::string> missing = without_name(ask.job.sampling, parameters);
  if (ask.job.ignore_eos) missing.emplace_back("ignore_eos");
  if (!ask.job.prompt_tokens.empty()) missing.emplace_back("prompt_tokens");
  for (const auto& message : ask.job.messages)
    for (const std::string& url : message.images)
      if (!image_bytes(url)) {
        missing.emplace_back("images");
        return missing;
      }
  return missing;
}

util::Result<Message> Ollama::read(std::string_view text) const {
  Message message;
  PACELINE_TRY_ASSIGN(const util::Json json, parse_message(text, message.oddities));
  read_error(json, message);
  const Fields root(json, "", message.oddities);
  const Fields chat = root.object("message");
  const bool last = root.flag("done").value_or(false);
  for (const Fields* part : {&chat, &root}) {
    if (auto content = part->text("content")) add_content(std::move(*content), message);
    if (auto thinking = part->text("thinking")) add_reasoning(std::move(*thinking), message);
  }
  if (auto response = root.text("response")) add_content(std::move(*response), message);
  if (last) read_last(root, root.has("response") ? "/api/generate" : "/api/chat", message);
  settle(last, message);
  return message;
}

}  // namespace paceline::dialect
