#include "dialect/lm_studio.hpp"

#include <array>

#include "dialect/quantities.hpp"
#include "dialect/timings.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr std::array parameters = {
    ParameterName{"temp", "temperature"},
    ParameterName{"top_k", "top_k"},
    ParameterName{"top_p", "top_p"},
    ParameterName{"penalty_repeat", "repeat_penalty"},
    ParameterName{"penalty_freq", "frequency_penalty"},
    ParameterName{"penalty_present", "presence_penalty"},
};

std::optional<trace::StopReason> stop_of(const std::string& reason) {
  if (reason == "eosFound" || reason == "stopStringFound" || reason == "toolCalls")
    return trace::StopReason::eos;
  if (reason == "maxPredictedTokensReached") return trace::StopReason::limit;
  if (reason == "contextLengthReached") return trace::StopReason::context;
  return std::nullopt;
}

void read_stop(const Fields& stats, Message& message) {
  const auto reason = stats.line("stop_reason");
  if (!reason) return;
  if (const auto stop = stop_of(*reason))
    message.stop = stop;
  else if (*reason == "failed" || *reason == "modelUnloaded" || *reason == "userStopped")
    message.error = "the server ended the request: stop_reason is \"" + *reason + "\"";
  else
    stats.odd("stop_reason", "is not known");
}

/// Drafted tokens are accepted, rejected, or ignored: the last were never sent to the target.
void say_drafts(const Fields& stats, Sayings& say, Message& message) {
  const auto total = stats.count("total_draft_tokens_count");
  const auto accepted = stats.count("accepted_draft_tokens_count");
  const auto rejected = stats.count("rejected_draft_tokens_count");
  const auto ignored = stats.count("ignored_draft_tokens_count");
  if (total || accepted) message.speculates = true;
  say.add(Quantity::generated, total, stats.path("total_draft_tokens_count"),
          "ignored ones, which the target never saw, included");
  say.add(Quantity::accepted, accepted, stats.path("accepted_draft_tokens_count"));
  if (accepted && rejected)
    say.add(Quantity::offered, std::optional(*accepted + *rejected),
            stats.path("rejected_draft_tokens_count"), "accepted and rejected draft tokens");
  if (total && accepted && rejected && *total != *accepted + *rejected + ignored.value_or(0))
    stats.odd("total_draft_tokens_count", "is not the sum of accepted, rejected and ignored ones");
}

void say_rate(const Fields& stats, std::optional<long> tokens, Sayings& say, Message& message) {
  const auto rate = stats.amount("tokens_per_second");
  const auto time = stats.amount("generation_time");
  if (!rate) return;
  std::optional<RateRule> rule;
  if (tokens && time) rule = rate_rule(*rate, *tokens, *time);
  if (rule && !rule->is_known)
    add_oddity(message.oddities,
               stats.path("tokens_per_second") + " is " + rule->rule + ": of another window");
  say.add(Quantity::tokens_per_s, rate, stats.path("tokens_per_second"),
          rule ? rule->rule : "of a window that is not said");
}

/// Of API v1, whose stats have other names and no drafts.
void say_v1(const Fields& stats, Sayings& say) {
  say.add(Quantity::prompt_tokens, stats.count("input_tokens"), stats.path("input_tokens"));
  say.add(Quantity::output_tokens, stats.count("total_output_tokens"),
          stats.path("total_output_tokens"));
  say.add(Quantity::reasoning_tokens, stats.count("reasoning_output_tokens"),
          stats.path("reasoning_output_tokens"));
  say.add(Quantity::ttft_s, stats.amount("time_to_first_token_seconds"),
          stats.path("time_to_first_token_seconds"));
}

void read_stats(const Fields& stats, const std::string& endpoint, Message& message) {
  if (!stats) return;
  Sayings say(message.said, endpoint);
  say.add(Quantity::ttft_s, stats.amount("time_to_first_token"), stats.path("time_to_first_token"));
  say.add(Quantity::decode_s, stats.amount("generation_time"), stats.path("generation_time"),
          "seconds of generation; where they begin is not said");
  auto tokens = message.chunk.output_tokens;
  if (!tokens) tokens = stats.count("total_output_tokens");
  say_v1(stats, say);
  say_rate(stats, tokens, say, message);
  say_drafts(stats, say, message);
  read_stop(stats, message);
}

bool is_v0(const util::Json& json) {
  const auto data = json.find("data");
  if (data == json.end() || !data->is_array()) return false;
  if (data->empty()) return true;
  const auto& first = data->front();
  return first.is_object() && (first.contains("compatibility_type") || first.contains("state"));
}

bool is_v1(const util::Json& json) {
  const auto models = json.find("models");
  if (models == json.end() || !models->is_array()) return false;
  if (models->empty()) return true;
  return models->front().is_object() && models->front().contains("loaded_instances");
}

/// The only language model that is loaded; null when there are more or none.
const util::Json* only_loaded_v0(const util::Json& data) {
  const util::Json* found = nullptr;
  for (const auto& model : data) {
    if (!model.is_object() || !model.contains("state") || model["state"] != "loaded") continue;
    if (model.contains("type") && model["type"] == "embeddings") continue;
    if (found != nullptr) return nullptr;
    found = &model;
  }
  return found;
}

const util::Json* only_loaded_v1(const util::Json& models) {
  const util::Json* found = nullptr;
  for (const auto& model : models) {
    if (!model.is_object() || !model.contains("loaded_instances")) continue;
    const auto& instances = model["loaded_instances"];
    if (!instances.is_array() || instances.empty()) continue;
    if (model.contains("type") && model["type"] == "embedding") continue;
    if (found != nullptr || instances.size() > 1) return nullptr;
    found = &model;
  }
  return found;
}

void set_context(std::optional<int> context, trace::EngineFacts& facts) {
  if (!context) return;
  facts.n_ctx = *context;
  facts.server->n_ctx_slot = *context;
}

void read_v0(const util::Json& json, trace::EngineFacts& facts) {
  const util::Json* loaded = is_v0(json) ? only_loaded_v0(json["data"]) : nullptr;
  if (loaded == nullptr) return;
  const Fields model(*loaded, "/api/v0/models", facts.target.oddities);
  facts.target.name = model.line("id").value_or("");
  facts.target.architecture = model.line("arch").value_or("");
  facts.target.context_train = model.small_count("max_context_length");
  facts.server->model = model.line("id");
  facts.server->quant = model.line("quantization");
  if (const auto type = model.line("type")) facts.server->takes_images = *type == "vlm";
  set_context(model.small_count("loaded_context_length"), facts);
}

void read_v1(const util::Json& json, trace::EngineFacts& facts) {
  const util::Json* loaded = is_v1(json) ? only_loaded_v1(json["models"]) : nullptr;
  if (loaded == nullptr) return;
  const Fields model(*loaded, "/api/v1/models", facts.target.oddities);
  if (!facts.server->model) facts.server->model = model.line("key");
  if (facts.target.name.empty()) facts.target.name = model.line("key").value_or("");
  if (!facts.server->quant) facts.server->quant = model.object("quantization").line("name");
  if (const auto vision = model.object("capabilities").flag("vision"))
    facts.server->takes_images = *vision;
  const util::Json& instance = (*loaded)["loaded_instances"].front();
  const Fields config =
      Fields(instance, "/api/v1/models.loaded_instances[0]", facts.target.oddities)
          .object("config");
  set_context(config.small_count("context_length"), facts);
  facts.flash_attention = config.flag("flash_attention").value_or(facts.flash_attention);
}

}  // namespace

OpenAiTraits LmStudio::traits() const {
  OpenAiTraits traits;
  traits.prefix = "/api/v0";
  traits.parameters = parameters;
  return traits;
}

std::vector<trace::Ability> LmStudio::abilities() const {
  return AbilityList("LM Studio does not say it")
      .can(Quantity::output_tokens, "usage.completion_tokens")
      .can(Quantity::prompt_tokens, "usage.prompt_tokens")
      .can(Quantity::ttft_s, "stats.time_to_first_token")
      .can(Quantity::decode_s, "stats.generation_time, whose beginning is not said")
      .can(Quantity::tokens_per_s, "stats.tokens_per_second")
      .can(Quantity::generated, "stats.total_draft_tokens_count, with a draft model")
      .can(Quantity::accepted, "stats.accepted_draft_tokens_count, likewise")
      .can(Quantity::offered,
           "stats.accepted_draft_tokens_count and rejected_draft_tokens_count, likewise")
      .can(Quantity::reasoning_tokens, "stats.reasoning_output_tokens of API v1 only")
      .cannot(Quantity::passes, "passes are not counted; only by the identity")
      .cannot(Quantity::passes_speculative, "passes are not counted")
      .cannot(Quantity::passes_plain, "passes are not counted")
      .cannot(Quantity::prompt_cached, "cached tokens are not told apart")
      .cannot(Quantity::prompt_processed, "cached tokens are not told apart")
      .list();
}

std::optional<std::string> LmStudio::recognises(const Answers& answers) const {
  // It answers 200 to routes that it does not have, with an error in the body.
  const auto v0 = answer_object(answers, "/api/v0/models");
  if (v0 && is_v0(*v0)) return "/api/v0/models lists models";
  const auto v1 = answer_object(answers, "/api/v1/models");
  if (v1 && is_v1(*v1)) return "/api/v1/models lists models with loaded_instances";
  return std::nullopt;
}

void LmStudio::read_facts(const Answers& answers, trace::EngineFacts& facts) const {
  server_facts(*this, facts);
  facts.engine = "LM Studio";
  if (const auto v0 = answer_object(answers, "/api/v0/models")) read_v0(*v0, facts);
  if (const auto v1 = answer_object(answers, "/api/v1/models")) read_v1(*v1, facts);
}

void LmStudio::read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const {
  const Fields root(json, "", message.oddities);
  read_stats(root.object("stats"), shape.endpoint, message);
  read_stats(root.object("result").object("stats"), "/api/v1/chat", message);
}

}  // namespace paceline::dialect
