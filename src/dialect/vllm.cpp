#include "dialect/vllm.hpp"

#include <array>
#include <cmath>

#include "dialect/counter_pair.hpp"
#include "dialect/prometheus.hpp"
#include "dialect/quantities.hpp"
#include "dialect/speculation.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr std::array parameters = {
    ParameterName{"temp", "temperature"},
    ParameterName{"top_k", "top_k"},
    ParameterName{"top_p", "top_p"},
    ParameterName{"min_p", "min_p"},
    ParameterName{"penalty_repeat", "repetition_penalty"},
    ParameterName{"penalty_freq", "frequency_penalty"},
    ParameterName{"penalty_present", "presence_penalty"},
};

constexpr std::string_view tokens_total = "vllm:generation_tokens_total";
constexpr std::string_view prompt_total = "vllm:prompt_tokens_total";
constexpr std::string_view running = "vllm:num_requests_running";
constexpr std::string_view waiting = "vllm:num_requests_waiting";
constexpr std::string_view drafts_total = "vllm:spec_decode_num_drafts_total";
constexpr std::string_view offered_total = "vllm:spec_decode_num_draft_tokens_total";
constexpr std::string_view accepted_total = "vllm:spec_decode_num_accepted_tokens_total";
constexpr std::string_view accepted_at = "vllm:spec_decode_num_accepted_tokens_per_pos_total";
// Of V0 only.
constexpr std::string_view emitted_total = "vllm:spec_decode_num_emitted_tokens_total";
constexpr std::string_view v0_rate = "vllm:spec_decode_draft_acceptance_rate";
constexpr std::string_view v0_efficiency = "vllm:spec_decode_efficiency";

SpeculationNames speculation_names() {
  SpeculationNames names;
  names.passes = "num_spec_steps";
  names.accepted = "num_accepted_draft_tokens";
  names.offered = "num_draft_tokens";
  names.n_max = "num_spec_tokens";
  names.length = "mean_acceptance_length";
  names.rate = "draft_acceptance_rate";
  names.histogram = "acceptance_histogram";
  names.by_length = "acceptance_histogram_by_draft_length";
  names.steps_accepted = "per_step_accepted";
  names.steps_drafted = "per_step_drafted";
  names.length_rule = "1 + A/S over steps that had a draft";
  names.rate_rule = "A over scheduled draft tokens";
  names.offered_rule = "those that a grammar ruled out are already taken off";
  return names;
}

std::optional<double> seconds(std::optional<double> milliseconds) {
  return milliseconds ? std::optional(*milliseconds / 1000) : std::nullopt;
}

void say_times(const Fields& metrics, Sayings& say) {
  say.add(Quantity::ttft_s, seconds(metrics.amount("time_to_first_token_ms")),
          metrics.path("time_to_first_token_ms"), "from scheduling on, without the queue");
  say.add(Quantity::decode_s, seconds(metrics.amount("generation_time_ms")),
          metrics.path("generation_time_ms"), "milliseconds from the first token to the last");
  say.add(Quantity::tokens_per_s, metrics.amount("tokens_per_second"),
          metrics.path("tokens_per_second"), "its time includes the prompt's");
  const Fields tokens = metrics.object("output_token_metrics");
  say.add(Quantity::reasoning_tokens, tokens.count("reasoning_token_count"),
          tokens.path("reasoning_token_count"));
}

/// True when a setting that forces acceptance has a value, false when there are none such.
bool forces_acceptance(const util::Json& speculative_config) {
  for (const auto& [key, value] : speculative_config.items())
    if (key.find("synthetic") != std::string::npos && !value.is_null() && value != false)
      return true;
  return false;
}

/// How the engine was configured, where the developer mode says it as an object.
void read_config(const Answers& answers, trace::EngineFacts& facts) {
  const auto info = answer_object(answers, "/server_info");
  if (!info) return;
  trace::ServerFacts& server = *facts.server;
  const auto config = info->find("vllm_config");
  if (config == info->end() || !config->is_object()) return;
  if (!config->contains("speculative_config")) return;
  const Fields fields(*config, "/server_info.vllm_config", facts.target.oddities);
  const Fields speculative = fields.object("speculative_config");
  server.speculates = static_cast<bool>(speculative);
  if (!speculative) return;
  server.forced_acceptance = forces_acceptance((*config)["speculative_config"]);
  if (const auto method = speculative.line("method")) server.spec_types = {*method};
  server.draft_n_max = speculative.small_count("num_speculative_tokens");
}

/// V0 counts a match behind the first mismatch as accepted: that number is no A.
void say_v0(const CounterPair& pair, Moved& moved) {
  const auto accepted = pair.moved_by(accepted_total);
  const auto emitted = pair.moved_by(emitted_total);
  if (!accepted || !emitted) return;
  add_oddity(moved.oddities, "vLLM V0 counts matches behind the first mismatch as accepted (" +
                                 std::to_string(std::llround(*accepted)) +
                                 "): that cannot be converted; speculative steps emitted " +
                                 std::to_string(std::llround(*emitted)) + " tokens");
}

bool is_v0(const CounterPair& pair) {
  return pair.after_has(emitted_total) || pair.after_has(v0_rate) || pair.after_has(v0_efficiency);
}

}  // namespace

std::span<const ParameterName> datacentre_parameters() { return parameters; }

OpenAiTraits Vllm::traits() const {
  OpenAiTraits traits;
  traits.parameters = parameters;
  traits.token_prompts = true;
  traits.ignores_eos = true;
  traits.usage_in_every_message = true;
  return traits;
}

std::vector<trace::Ability> Vllm::abilities() const {
  const std::string stats =
      " with --per-request-spec-decode-metrics (0.29 and later), else of /metrics";
  const std::string field = "metrics.speculative_decoding.";
  return AbilityList("vLLM does not say it")
      .can(Quantity::output_tokens, "usage.completion_tokens")
      .can(Quantity::prompt_tokens, "usage.prompt_tokens")
      .can(Quantity::prompt_cached,
           "usage.prompt_tokens_details.cached_tokens with --enable-prompt-tokens-details")
      .can(Quantity::prompt_processed, "usage.prompt_tokens less the cached ones, likewise")
      .can(Quantity::reasoning_tokens,
           "usage.completion_tokens_details or metrics.output_token_metrics, where it is sent")
      .can(Quantity::ttft_s, "metrics.time_to_first_token_ms with --enable-per-request-metrics")
      .can(Quantity::decode_s, "metrics.generation_time_ms, likewise")
      .can(Quantity::tokens_per_s,
           "metrics.tokens_per_second, likewise; the prompt's time is in it")
      .can(Quantity::passes_speculative, field + "num_spec_steps" + stats)
      .can(Quantity::offered, field + "num_draft_tokens" + stats)
      .can(Quantity::accepted, field + "num_accepted_draft_tokens" + stats + "; not of V0")
      .can(Quantity::accepted_at, field + "acceptance_histogram" + stats + "; not of V0")
      .can(Quantity::acceptance_length, field + "mean_acceptance_length, likewise")
      .can(Quantity::acceptance_rate, field + "draft_acceptance_rate, likewise")
      .can(Quantity::draft_n_max, field + "num_spec_tokens, likewise")
      .can(Quantity::accepted_lengths, field + "acceptance_histogram, likewise")
      .can(Quantity::offered_at, field + "acceptance_histogram_by_draft_length, likewise")
      .can(Quantity::tested, field + "acceptance_histogram_by_draft_length, likewise")
      .cannot(Quantity::prefill_s,
              "time to the first token and the queue are said, not the prompt's")
      .cannot(Quantity::passes, "steps without a draft are not counted; only by the identity")
      .cannot(Quantity::passes_plain, "steps without a draft are not counted")
      .cannot(Quantity::decodes, "steps of the engine are not counted")
      .cannot(Quantity::attempts, "runs of the drafter are not counted")
      .cannot(Quantity::generated, "drafted tokens that were not scheduled are not counted")
      .list();
}

std::optional<std::string> Vllm::recognises(const Answers& answers) const {
  if (model_owner(answers) != "vllm") return std::nullopt;
  return "/v1/models is owned by vllm";
}

void Vllm::read_facts(const Answers& answers, trace::EngineFacts& facts) const {
  server_facts(*this, facts);
  facts.engine = "vLLM";
  read_models(answers, "/v1/models", facts);
  if (const auto version = answer_object(answers, "/version"))
    facts.version =
        Fields(*version, "/version", facts.target.oddities).line("version").value_or("");
  read_config(answers, facts);
}

void Vllm::read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const {
  Sayings say(message.said, shape.endpoint);
  const Fields metrics = Fields(json, "", message.oddities).object("metrics");
  say_times(metrics, say);
  read_speculation(metrics.object("speculative_decoding"), speculation_names(), say, message);
  if (shape.choice == nullptr) return;
  const Fields choice(*shape.choice, "choices[0]", message.oddities);
  read_speculation(choice.object("speculative_decoding_stats"), speculation_names(), say, message);
}

util::Result<Counters> Vllm::read_counters(std::string_view text) const {
  return read_prometheus(text,
                         {tokens_total, prompt_total, running, waiting, drafts_total, offered_total,
                          accepted_total, accepted_at, emitted_total, v0_rate, v0_efficiency});
}

Moved Vllm::moved(const Counters& before, const Counters& after,
                  std::optional<long> output_tokens) const {
  Moved moved;
  const CounterPair pair(before, after);
  if (!pair.is_of_one_request({{running, waiting}, tokens_total}, output_tokens, moved.oddities))
    return moved;
  Sayings say(moved.said, "/metrics");
  const char* delta = "what the counter moved by during the request, over all engines";
  const auto add = [&](Quantity quantity, std::string_view name) {
    say.add(quantity, pair.moved_by(name), std::string(name), delta);
  };
  add(Quantity::output_tokens, tokens_total);
  add(Quantity::prompt_tokens, prompt_total);
  if (is_v0(pair)) {
    say_v0(pair, moved);
    return moved;
  }
  add(Quantity::passes_speculative, drafts_total);
  add(Quantity::offered, offered_total);
  add(Quantity::accepted, accepted_total);
  say.add_list(Quantity::accepted_at, pair.list_moved_by(accepted_at, accepted_total),
               std::string(accepted_at), delta);
  return moved;
}

}  // namespace paceline::dialect
