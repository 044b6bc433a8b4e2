#include "dialect/sglang.hpp"

#include "dialect/counter_pair.hpp"
#include "dialect/prometheus.hpp"
#include "dialect/quantities.hpp"
#include "dialect/speculation.hpp"
#include "dialect/vllm.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr std::string_view tokens_total = "sglang:generation_tokens_total";
constexpr std::string_view prompt_total = "sglang:prompt_tokens_total";
constexpr std::string_view verify_total = "sglang:spec_verify_calls_total";

/// The names of the generation that `stats` is of. Only the latest counts proposed drafts; before,
/// the number of that kind was passes times an assumed width.
SpeculationNames names_in(const Fields& stats) {
  SpeculationNames names;
  names.passes = "spec_verify_ct";
  names.length = "spec_accept_length";
  names.rate = "spec_accept_rate";
  names.length_rule =
      "output tokens over verify calls: the first token is in it and what is past the end is not";
  names.rate_rule = "A over verify calls times an assumed width, speculative_num_draft_tokens - 1";
  if (stats.has("spec_num_correct_drafts") || stats.has("spec_num_proposed_drafts")) {
    names.accepted = "spec_num_correct_drafts";
    names.offered = "spec_num_proposed_drafts";
    names.histogram = "spec_correct_drafts_histogram";
  } else if (stats.has("spec_accepted_drafts") || stats.has("spec_proposed_drafts")) {
    names.accepted = "spec_accepted_drafts";
    names.histogram = "spec_accept_histogram";
  } else {
    names.accepted = "spec_accept_token_num";
    names.histogram = "spec_accept_histogram";
    names.rate_rule += "; early builds counted the target's own token too";
  }
  return names;
}

bool is_of_speculation(const Fields& stats) { return stats && stats.has("spec_verify_ct"); }

/// Server arguments, flat or (in newer builds) among more.
void read_server_info(const Fields& info, trace::EngineFacts& facts) {
  if (!info) return;
  trace::ServerFacts& server = *facts.server;
  facts.version = info.line("version").value_or(facts.version);
  if (const auto path = info.line("model_path")) facts.target.path = *path;
  if (const auto type = info.line("kv_cache_dtype"))
    facts.cache_type_k = facts.cache_type_v = *type;
  if (const auto context = info.small_count("context_length")) facts.n_ctx = *context;
  server.quant = info.line("quantization");
  server.slots = info.small_count("max_running_requests");
  const auto algorithm = info.line("speculative_algorithm");
  server.speculates = algorithm.has_value();
  if (!algorithm) return;
  server.spec_types = {*algorithm};
  server.draft_n_max = info.small_count("speculative_num_steps");
}

}  // namespace

OpenAiTraits Sglang::traits() const {
  OpenAiTraits traits;
  traits.parameters = datacentre_parameters();
  traits.token_prompts = true;
  traits.ignores_eos = true;
  traits.usage_in_every_message = true;
  traits.asks_for = "return_spec_tokens_details";
  return traits;
}

std::vector<trace::Ability> Sglang::abilities() const {
  const std::string field = "sglext.spec_tokens_details.";
  return AbilityList("SGLang does not say it")
      .can(Quantity::output_tokens, "usage.completion_tokens")
      .can(Quantity::prompt_tokens, "usage.prompt_tokens")
      .can(Quantity::prompt_cached,
           "usage.prompt_tokens_details.cached_tokens with --enable-cache-report")
      .can(Quantity::prompt_processed, "usage.prompt_tokens less the cached ones, likewise")
      .can(Quantity::reasoning_tokens, "usage.reasoning_tokens")
      .can(Quantity::passes_speculative, field + "spec_verify_ct, else of /metrics")
      .can(Quantity::accepted, field + "spec_num_correct_drafts, under two older names before")
      .can(Quantity::offered,
           field + "spec_num_proposed_drafts; builds before had an assumed width only")
      .can(Quantity::accepted_lengths, field + "spec_correct_drafts_histogram")
      .can(Quantity::accepted_at, field + "spec_correct_drafts_histogram")
      .can(Quantity::acceptance_length, field + "spec_accept_length")
      .can(Quantity::acceptance_rate, field + "spec_accept_rate, of an assumed width")
      .can(Quantity::draft_n_max, "speculative_num_steps of /get_server_info")
      .cannot(Quantity::offered_at, "drafts are not counted by position")
      .cannot(Quantity::tested, "positions behind a rejection are not told from it")
      .cannot(Quantity::passes, "passes without a draft are not counted; only by the identity")
      .cannot(Quantity::passes_plain, "passes without a draft are not counted")
      .cannot(Quantity::tokens_per_s, "gen_throughput is the server's and stays when it idles")
      .list();
}

std::optional<std::string> Sglang::recognises(const Answers& answers) const {
  if (model_owner(answers) != "sglang") return std::nullopt;
  return "/v1/models is owned by sglang";
}

void Sglang::read_facts(const Answers& answers, trace::EngineFacts& facts) const {
  server_facts(*this, facts);
  facts.engine = "SGLang";
  read_models(answers, "/v1/models", facts);
  for (const char* target : {"/get_server_info", "/server_info"}) {
    const auto info = answer_object(answers, target);
    if (!info) continue;
    const Fields fields(*info, target, facts.target.oddities);
    const Fields arguments = fields.object("server_args");
    read_server_info(arguments ? arguments : fields, facts);
    return;
  }
}

void Sglang::read_more(const util::Json& json, const OpenAiShape& shape, Message& message) const {
  const Fields root(json, "", message.oddities);
  Sayings say(message.said, shape.endpoint);
  const auto read_here = [&](const Fields& stats) {
    if (is_of_speculation(stats)) read_speculation(stats, names_in(stats), say, message);
  };
  read_here(root.object("sglext").object("spec_tokens_details"));
  read_here(root.object("meta_info"));
  if (shape.choice == nullptr) return;
  read_here(Fields(*shape.choice, "choices[0]", message.oddities).object("meta_info"));
}

util::Result<Counters> Sglang::read_counters(std::string_view text) const {
  return read_prometheus(text, {tokens_total, prompt_total, verify_total});
}

Moved Sglang::moved(const Counters& before, const Counters& after,
                    std::optional<long> output_tokens) const {
  Moved moved;
  const CounterPair pair(before, after);
  // Its gauges keep their last value while it idles: none of them says that it is busy.
  if (!pair.is_of_one_request({{}, tokens_total}, output_tokens, moved.oddities)) return moved;
  Sayings say(moved.said, "/metrics");
  const char* delta = "what the counter moved by during the request";
  const auto add = [&](Quantity quantity, std::string_view name) {
    say.add(quantity, pair.moved_by(name), std::string(name), delta);
  };
  add(Quantity::output_tokens, tokens_total);
  add(Quantity::prompt_tokens, prompt_total);
  add(Quantity::passes_speculative, verify_total);
  return moved;
}

}  // namespace paceline::dialect
