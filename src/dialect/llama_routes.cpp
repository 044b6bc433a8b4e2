#include "dialect/llama_routes.hpp"

#include <algorithm>
#include <limits>

#include "dialect/counter_pair.hpp"
#include "dialect/openai_routes.hpp"
#include "dialect/prometheus.hpp"
#include "dialect/sampling.hpp"
#include "dialect/timings.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr const char* native_route = "/completion";

/// Fields that only make the server say more; it ignores those that it does not know.
void put_common(const Ask& ask, util::Json& body) {
  body["stream"] = true;
  body["n_predict"] = ask.job.n_predict;
  body["cache_prompt"] = false;
  put_sampling(ask, llama_parameters(), body);
  if (ask.job.ignore_eos) body["ignore_eos"] = true;
  body["seed"] = ask.job.seed;
  body["timings_per_token"] = true;
  body["return_progress"] = true;
}

net::Request native_request(const Ask& ask) {
  util::Json body = util::Json::object();
  if (ask.job.prompt_tokens.empty())
    body["prompt"] = ask.job.prompt;
  else
    body["prompt"] = ask.job.prompt_tokens;
  put_common(ask, body);
  body["return_tokens"] = true;
  return json_request(native_route, body);
}

net::Request chat_request(const Ask& ask) {
  util::Json body = util::Json::object();
  if (!ask.model.empty()) body["model"] = ask.model;
  body["messages"] = openai_messages(ask.job.messages);
  put_common(ask, body);
  body["stream_options"] = {{"include_usage", true}};
  return json_request("/v1/chat/completions", body);
}

/// True when the message is about the prompt and carries no output, whatever else it holds. The
/// first of them comes before any batch.
bool read_progress(const Fields& root, Message& message) {
  const Fields progress = root.object("prompt_progress");
  if (!progress) return false;
  const auto processed = progress.count("processed");
  message.prompt_batch = processed && *processed > progress.count("cache").value_or(0);
  return true;
}

/// stop_type of today, or the stopped_* of older builds and forks.
std::optional<trace::StopReason> stop_of(const Fields& root) {
  if (root.flag("stopped_eos").value_or(false)) return trace::StopReason::eos;
  if (root.flag("stopped_limit").value_or(false)) return trace::StopReason::limit;
  if (root.flag("stopped_word").value_or(false)) return trace::StopReason::eos;
  const auto type = root.line("stop_type");
  if (!type) return trace::StopReason::none;
  if (*type == "limit") return trace::StopReason::limit;
  if (*type == "eos" || *type == "word") return trace::StopReason::eos;
  if (*type != "none") root.odd("stop_type", "is not known");
  return trace::StopReason::none;
}

void read_stop(const Fields& root, const Fields& settings, Message& message) {
  message.stop = stop_of(root);
  message.truncated = root.flag("truncated").value_or(false);
  if (!message.truncated) return;
  add_oddity(message.oddities,
             "truncated: prompt and answer did not fit into the context of a slot");
  const auto asked = settings.any_number("n_predict");
  const bool asked_for_all = asked && message.chunk.output_tokens &&
                             static_cast<double>(*message.chunk.output_tokens) >= *asked;
  if (message.stop == trace::StopReason::limit && !asked_for_all)
    message.stop = trace::StopReason::context;
}

void read_types(const Fields& settings, Message& message) {
  const auto types = settings.text("speculative.types");
  if (!types) return;
  for (std::size_t at = 0; at <= types->size() && message.spec_types.size() < 16;) {
    const std::size_t end = std::min(types->find(',', at), types->size());
    const std::string type = short_line(types->substr(at, end - at));
    if (!type.empty() && type != "none") message.spec_types.push_back(type);
    at = end + 1;
  }
  message.speculates = !message.spec_types.empty();
}

/// The whole prompt, of which the timings count what was processed.
void say_prompt(const Fields& root, const Fields& timings, Sayings& say) {
  const auto whole = root.count("tokens_evaluated");
  say.add(Quantity::prompt_tokens, whole, "tokens_evaluated");
  const auto processed = timings.count("prompt_n");
  if (!whole || !processed || timings.has("cache_n") || *processed > *whole) return;
  say.add(Quantity::prompt_cached, std::optional(*whole - *processed), "tokens_evaluated",
          "tokens_evaluated less timings.prompt_n");
}

constexpr std::string_view tokens_total = "llamacpp:tokens_predicted_total";
constexpr std::string_view processing = "llamacpp:requests_processing";
constexpr std::string_view deferred = "llamacpp:requests_deferred";
constexpr std::string_view decodes_total = "llamacpp:n_decode_total";
constexpr std::string_view prompt_total = "llamacpp:prompt_tokens_total";
constexpr std::string_view cached_total = "llamacpp:prompt_tokens_cached_total";
constexpr std::string_view drafts_total = "llamacpp:spec_decode_num_drafts_total";
constexpr std::string_view offered_total = "llamacpp:spec_decode_num_draft_tokens_total";
constexpr std::string_view accepted_total = "llamacpp:spec_decode_num_accepted_tokens_total";
constexpr std::string_view accepted_at = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total";
// Of forks and of a request that was never merged.
constexpr std::string_view fork_offered_total = "llamacpp:spec_tokens_drafted_total";
constexpr std::string_view fork_accepted_total = "llamacpp:spec_tokens_accepted_total";

}  // namespace

net::Request LlamaRoutes::generate(const Ask& ask) const {
  const bool chat = ask.job.prompt_tokens.empty() && !ask.job.messages.empty();
  return chat ? chat_request(ask) : native_request(ask);
}

std::vector<std::string> LlamaRoutes::cannot_ask(const Ask& ask) const {
  return without_name(ask.job.sampling, llama_parameters());
}

std::optional<net::Request> LlamaRoutes::apply_template(
    const std::vector<protocol::ChatMessage>& messages) const {
  const bool images = std::any_of(messages.begin(), messages.end(),
                                  [](const auto& message) { return !message.images.empty(); });
  if (images) return std::nullopt;  // they would be lost: the template makes text
  return json_request("/apply-template", {{"messages", openai_messages(messages)}});
}

util::Result<std::string> LlamaRoutes::read_template(const net::Response& answer) const {
  PACELINE_TRY_ASSIGN(const util::Json json, parse_object(answer.body, "/apply-template"));
  std::vector<std::string> oddities;
  Message message;
  read_error(json, message);
  const auto prompt = Fields(json, "", oddities).text("prompt");
  if (answer.status == 200 && prompt) return *prompt;
  return util::fail(util::ErrorKind::engine,
                    "/apply-template made no prompt of the messages (status " +
                        std::to_string(answer.status) +
                        "): " + message.error.value_or("it has no text \"prompt\"") +
                        "; give the prompts as text, or see the server's log.");
}

util::Result<Message> LlamaRoutes::read(std::string_view text) const {
  Message message;
  if (is_done_mark(text)) return message;
  PACELINE_TRY_ASSIGN(const util::Json json, parse_message(text, message.oddities));
  if (!json.contains("choices")) {
    read_error(json, message);
    read_native(json, message);
    return message;
  }
  const OpenAiShape shape = read_openai_message(json, "/v1", message);
  const Fields root(json, "", message.oddities);
  if (read_progress(root, message)) {
    message.chunk.output_tokens.reset();
    return message;
  }
  const Fields timings = root.object("timings");
  read_timings(timings, shape.endpoint, shape.last, message);
  if (shape.last && timings) {
    Sayings say(message.said, shape.endpoint);
    read_more_timings(timings, say);
  }
  settle(shape.last, message);
  return message;
}

void LlamaRoutes::read_native(const util::Json& json, Message& message) const {
  const Fields root(json, "", message.oddities);
  if (read_progress(root, message)) return;  // it holds a token id that is none
  message.chunk.output_tokens = root.count("tokens_predicted");
  if (auto content = root.text("content")) add_content(std::move(*content), message);
  if (const util::Json* ids = root.array("tokens")) read_token_ids(*ids, "tokens", message);
  const bool last = root.flag("stop").value_or(false);
  const Fields timings = root.object("timings");
  const auto predicted = message.chunk.output_tokens;
  read_timings(timings, native_route, last, message);
  if (predicted && message.chunk.output_tokens != predicted)
    add_oddity(message.oddities, "tokens_predicted and timings.predicted_n differ");
  if (last) {
    const Fields settings = root.object("generation_settings");
    read_stop(root, settings, message);
    message.sampling = read_llama_settings(settings);
    read_types(settings, message);
    Sayings say(message.said, native_route);
    if (!timings) say.add(Quantity::output_tokens, predicted, "tokens_predicted");
    say_prompt(root, timings, say);
    if (timings) read_more_timings(timings, say);
  }
  settle(last, message);
}

void LlamaRoutes::read_more_timings(const Fields&, Sayings&) const {}

std::optional<int> LlamaRoutes::whole_context(const Fields&) const { return std::nullopt; }

bool is_llama_props(const util::Json& props) {
  return props.contains("default_generation_settings") && props.contains("total_slots");
}

void LlamaRoutes::read_facts(const Answers& answers, trace::EngineFacts& facts) const {
  trace::ServerFacts& server = server_facts(*this, facts);
  facts.engine = name();
  const auto props = answer_object(answers, "/props");
  if (props) read_props(Fields(*props, "/props", facts.target.oddities), facts);
  const auto models = answer_object(answers, "/v1/models");
  if (!models) return;
  const Fields root(*models, "/v1/models", facts.target.oddities);
  const util::Json* data = root.array("data");
  if (data == nullptr || data->empty()) return;
  const Fields model(data->front(), root.path("data[0]"), facts.target.oddities);
  if (const auto id = model.line("id")) server.model = *id;
  const Fields meta = model.object("meta");
  if (const auto parameters = meta.count("n_params"))
    facts.target.parameters = static_cast<std::uint64_t>(*parameters);
  facts.target.vocabulary = meta.small_count("n_vocab");
  facts.target.embedding_length = meta.small_count("n_embd");
  facts.target.context_train = meta.small_count("n_ctx_train");
}

void LlamaRoutes::read_props(const Fields& props, trace::EngineFacts& facts) const {
  trace::ServerFacts& server = *facts.server;
  facts.build = props.line("build_info").value_or("");
  facts.target.path = props.line("model_path").value_or("");
  facts.target.name = props.line("model_alias").value_or(facts.target.path);
  facts.target.file_type = props.line("model_ftype");
  server.model = props.line("model_alias");
  server.quant = facts.target.file_type;
  server.slots = props.small_count("total_slots");
  if (const auto chat_template = props.text("chat_template"))
    facts.target.has_chat_template = !chat_template->empty();
  server.takes_images = props.object("modalities").flag("vision");
  const Fields defaults = props.object("default_generation_settings");
  server.n_ctx_slot = defaults.small_count("n_ctx");
  // "speculative.types" of it says "none" also where the server speculates: it is not read.
  const Fields params = defaults.object("params");
  if (auto sampling = read_llama_settings(params ? params : defaults))
    facts.sampling = std::move(*sampling);
  const auto whole = whole_context(props);
  const long product = static_cast<long>(server.n_ctx_slot.value_or(0)) * server.slots.value_or(0);
  if (whole)
    facts.n_ctx = *whole;
  else if (product <= std::numeric_limits<int>::max())
    facts.n_ctx = static_cast<int>(product);
}

AbilityList LlamaRoutes::common_abilities() {
  AbilityList list("the server does not say it");
  list.can(Quantity::output_tokens, "tokens_predicted of /completion")
      .can(Quantity::prompt_tokens, "tokens_evaluated of /completion")
      .can(Quantity::prompt_cached, "timings.cache_n of /completion")
      .can(Quantity::prompt_processed, "timings.prompt_n of /completion")
      .can(Quantity::prefill_s, "timings.prompt_ms of /completion")
      .can(Quantity::decode_s, "timings.predicted_ms of /completion")
      .can(Quantity::tokens_per_s, "timings.predicted_per_second of /completion")
      .can(Quantity::offered, "timings.draft_n of /completion, absent while nothing was drafted")
      .can(Quantity::accepted, "timings.draft_n_accepted of /completion, likewise")
      .can(Quantity::passes,
           "tokens of one pass share a timings.predicted_ms of /completion with timings_per_token")
      .can(Quantity::decodes, "llamacpp:n_decode_total of /metrics")
      .cannot(Quantity::reasoning_tokens, "reasoning and content are counted together")
      .cannot(Quantity::ttft_s, "the server's clock starts when it takes the prompt up")
      .cannot(Quantity::attempts, "runs of the drafter that gave no draft are not counted")
      .cannot(Quantity::generated, "only tokens that were put into a verify batch are counted")
      .cannot(Quantity::tested, "positions behind a rejection are not told from it")
      .cannot(Quantity::passes_plain, "only as passes less those with a draft")
      .cannot(Quantity::acceptance_length, "only in the log")
      .cannot(Quantity::acceptance_rate, "only in the log")
      .cannot(Quantity::draft_n_max, "/props says nothing of speculation")
      .cannot(Quantity::accepted_lengths, "only as tokens that share a timings.predicted_ms");
  return list;
}

util::Result<Counters> LlamaRoutes::read_counters(std::string_view text) const {
  return read_prometheus(text, {tokens_total, processing, deferred, decodes_total, prompt_total,
                                cached_total, drafts_total, offered_total, accepted_total,
                                accepted_at, fork_offered_total, fork_accepted_total});
}

Moved LlamaRoutes::moved(const Counters& before, const Counters& after,
                         std::optional<long> output_tokens) const {
  Moved moved;
  const CounterPair pair(before, after);
  if (!pair.is_of_one_request({{processing, deferred}, tokens_total}, output_tokens,
                              moved.oddities))
    return moved;
  Sayings say(moved.said, "/metrics");
  const auto add = [&](Quantity quantity, std::string_view name, const char* rule) {
    say.add(quantity, pair.moved_by(name), std::string(name), rule);
  };
  const char* delta = "what the counter moved by during the request";
  add(Quantity::output_tokens, tokens_total, delta);
  add(Quantity::prompt_processed, prompt_total, delta);
  add(Quantity::prompt_cached, cached_total, delta);
  add(Quantity::decodes, decodes_total,
      "what the counter moved by, batches of the prompt included");
  add(Quantity::passes_speculative, drafts_total, delta);
  const bool fork = !pair.after_has(offered_total);
  add(Quantity::offered, fork ? fork_offered_total : offered_total, delta);
  add(Quantity::accepted, fork ? fork_accepted_total : accepted_total, delta);
  say.add_list(Quantity::accepted_at, pair.list_moved_by(accepted_at, accepted_total),
               std::string(accepted_at), delta);
  return moved;
}

}  // namespace paceline::dialect
