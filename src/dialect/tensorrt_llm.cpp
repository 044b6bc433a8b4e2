#include "dialect/tensorrt_llm.hpp"

#include "dialect/counter_pair.hpp"
#include "dialect/prometheus.hpp"
#include "dialect/quantities.hpp"
#include "dialect/speculation.hpp"
#include "dialect/vllm.hpp"

namespace paceline::dialect {

namespace {

using trace::Quantity;

constexpr std::string_view offered_total = "trtllm_spec_decode_num_draft_tokens_total";
constexpr std::string_view accepted_total = "trtllm_spec_decode_num_accepted_tokens_total";
constexpr std::string_view offered_at = "trtllm_spec_decode_drafted_tokens_total";
constexpr std::string_view accepted_at = "trtllm_spec_decode_accepted_tokens_total";

SpeculationNames speculation_names() {
  SpeculationNames names;
  names.passes = "num_spec_steps";
  names.accepted = "total_accepted_draft_tokens";
  names.offered = "total_draft_tokens";
  names.n_max = "num_spec_tokens";
  names.rate = "acceptance_rate";
  names.histogram = "acceptance_histogram";
  names.rate_rule = "A over draft tokens";
  return names;
}

/// Some builds make up the drafted tokens from the longest draft and one iteration too many.
bool is_reconstructed(const Fields& stats) {
  const auto offered = stats.count("total_draft_tokens");
  const auto passes = stats.count("num_spec_steps");
  const auto longest = stats.count("num_spec_tokens");
  return offered && passes && longest && *offered > 0 && *longest <= 4096 &&
         *offered == *longest * (*passes + 1);
}

void read_stats(const Fields& holder, const std::string& endpoint, Message& message) {
  const Fields stats = holder.object("speculative_decoding");
  const auto per_iteration = holder.amount("avg_decoded_tokens_per_iter");
  // An iteration makes one token at least: a lower mean comes of builds that leave all at zero.
  if (stats && per_iteration && *per_iteration < 1)
    return holder.odd("avg_decoded_tokens_per_iter",
                      "is below 1, so these statistics were never filled in");
  Sayings say(message.said, endpoint);
  say.add(Quantity::acceptance_length, per_iteration, holder.path("avg_decoded_tokens_per_iter"),
          "output tokens per iteration, those without a draft included");
  SpeculationNames names = speculation_names();
  if (stats && is_reconstructed(stats)) {
    stats.odd("total_draft_tokens",
              "is the longest draft times one step too many: made up, not observed");
    names.offered = nullptr;
    names.rate = nullptr;
  }
  read_speculation(stats, names, say, message);
}

}  // namespace

OpenAiTraits TensorrtLlm::traits() const {
  OpenAiTraits traits;
  traits.parameters = datacentre_parameters();
  traits.token_prompts = true;
  traits.ignores_eos = true;
  traits.usage_in_every_message = true;
  return traits;
}

std::vector<trace::Ability> TensorrtLlm::abilities() const {
  const std::string field = "speculative_decoding.";
  const std::string else_counters = ", else of /prometheus/metrics with return_perf_metrics";
  return AbilityList("TensorRT-LLM does not say it")
      .can(Quantity::output_tokens, "usage.completion_tokens")
      .can(Quantity::prompt_tokens, "usage.prompt_tokens")
      .can(Quantity::prompt_cached, "usage.prompt_tokens_details.cached_tokens, where it is sent")
      .can(Quantity::prompt_processed, "usage.prompt_tokens less the cached ones, likewise")
      .can(Quantity::passes_speculative, field + "num_spec_steps" + else_counters)
      .can(Quantity::accepted, field + "total_accepted_draft_tokens" + else_counters)
      .can(Quantity::offered, field + "total_draft_tokens, where it is observed" + else_counters)
      .can(Quantity::offered_at, "trtllm_spec_decode_drafted_tokens_total of /prometheus/metrics")
      .can(Quantity::accepted_at, field + "acceptance_histogram" + else_counters)
      .can(Quantity::accepted_lengths, field + "acceptance_histogram")
      .can(Quantity::acceptance_length, "avg_decoded_tokens_per_iter")
      .can(Quantity::acceptance_rate, field + "acceptance_rate")
      .can(Quantity::draft_n_max, field + "num_spec_tokens")
      .cannot(Quantity::passes, "only by the identity: its iterations are read once by anybody")
      .cannot(Quantity::decodes, "/metrics has them, and is emptied by reading it")
      .cannot(Quantity::passes_plain, "passes without a draft are not counted")
      .cannot(Quantity::tested, "positions behind a rejection are not told from it")
      .list();
}

std::optional<std::string> TensorrtLlm::recognises(const Answers& answers) const {
  if (model_owner(answers) != "tensorrt_llm") return std::nullopt;
  return "/v1/models is owned by tensorrt_llm";
}

void TensorrtLlm::read_facts(const Answers& answers, trace::EngineFacts& facts) const {
  server_facts(*this, facts);
  facts.engine = "TensorRT-LLM";
  read_models(answers, "/v1/models", facts);
  if (const auto version = answer_object(answers, "/version"))
    facts.version =
        Fields(*version, "/version", facts.target.oddities).line("version").value_or("");
}

void TensorrtLlm::read_more(const util::Json& json, const OpenAiShape& shape,
                            Message& message) const {
  read_stats(Fields(json, "", message.oddities), shape.endpoint, message);
  if (shape.choice != nullptr)
    read_stats(Fields(*shape.choice, "choices[0]", message.oddities), shape.endpoint, message);
}

util::Result<Counters> TensorrtLlm::read_counters(std::string_view text) const {
  return read_prometheus(text, {offered_total, accepted_total, offered_at, accepted_at});
}

/// There is no counter of output tokens among them: whether others used the server cannot be seen,
/// so they are said only where they moved as one request can.
Moved TensorrtLlm::moved(const Counters& before, const Counters& after,
                         std::optional<long> output_tokens) const {
  Moved moved;
  const CounterPair pair(before, after);
  if (!pair.is_of_one_request({{}, accepted_total}, std::nullopt, moved.oddities)) return moved;
  const auto accepted = pair.moved_by(accepted_total);
  if (output_tokens && accepted && *accepted >= static_cast<double>(*output_tokens) + 64) {
    add_oddity(moved.oddities, "accepted tokens moved by more than one request of " +
                                   std::to_string(*output_tokens) + " tokens can accept");
    return moved;
  }
  Sayings say(moved.said, "/prometheus/metrics");
  const char* delta = "what the counter moved by; nothing there tells whether others used it";
  say.add(Quantity::offered, pair.moved_by(offered_total), std::string(offered_total), delta);
  say.add(Quantity::accepted, accepted, std::string(accepted_total), delta);
  auto offered = pair.list_moved_by(offered_at, offered_total);
  if (offered && !offered->empty())
    say.add(Quantity::passes_speculative, std::optional(offered->front()),
            "trtllm_spec_decode_drafted_tokens_total{token_position=\"0\"}",
            "drafts of one token or more: offered at the first position");
  say.add_list(Quantity::offered_at, std::move(offered), std::string(offered_at), delta);
  say.add_list(Quantity::accepted_at, pair.list_moved_by(accepted_at, accepted_total),
               std::string(accepted_at), delta);
  return moved;
}

}  // namespace paceline::dialect
