#pragma once

#include <optional>
#include <string>
#include <vector>

namespace paceline::trace {

/// What servers say numbers of, by the names of DEFINITIONS where it has one.
enum class Quantity {
  output_tokens,       ///< E
  reasoning_tokens,    ///< part of E that is reasoning
  prompt_tokens,       ///< of the request, cached ones included
  prompt_cached,       ///< of those, taken from a cache
  prompt_processed,    ///< of those, really decoded
  prefill_s,           ///< the server's own time for the prompt, up to the first token
  decode_s,            ///< the server's own time from the first token to the last
  ttft_s,              ///< the server's own time to the first token
  tokens_per_s,        ///< the decode rate that the server states
  attempts,            ///< times a drafter was run
  generated,           ///< tokens it computed
  offered,             ///< D
  tested,              ///< V
  accepted,            ///< A
  passes,              ///< F
  passes_speculative,  ///< S
  passes_plain,        ///< P
  decodes,             ///< decode calls of the server, prompt batches included
  acceptance_length,   ///< 1 + A/S as the server states it
  acceptance_rate,     ///< as the server states it, whatever its denominator
  draft_n_max,         ///< longest draft
  offered_at,          ///< list by position
  accepted_at,         ///< list by position
  accepted_lengths,    ///< list: passes by number of accepted tokens, from 0
};
inline constexpr int quantities = 24;

/// Whether a server of a kind can be made to say a quantity, and where.
struct Ability {
  Quantity quantity = Quantity::output_tokens;
  std::string source;  ///< field and endpoint; empty: it cannot be known
  std::string reason;  ///< why not; empty when it can
};

/// What one server is. An absent value was not said.
struct ServerFacts {
  std::string dialect;                    ///< as in "llama-server" or "vllm"
  std::string chosen;                     ///< why, as in "/props names build_info" or "asked for"
  std::string url;                        ///< scheme, host and port; never credentials
  std::optional<std::string> model;       ///< as the server names it
  std::optional<std::string> quant;       ///< as the server names it
  std::optional<int> slots;               ///< sequences at once
  std::optional<int> n_ctx_slot;          ///< context of one slot, in tokens
  std::optional<bool> speculates;         ///< found by a probe where it is not said
  std::vector<std::string> spec_types;    ///< as the server names them
  std::optional<int> draft_n_max;         ///< longest draft in tokens
  std::optional<bool> forced_acceptance;  ///< acceptance is made up, not the drafter's
  std::optional<bool> takes_images;
  std::optional<std::string> command_line;   ///< of a server that we started
  std::optional<std::string> binary_sha256;  ///< likewise, of the file that was named
  std::optional<bool> binary_is_script;      ///< likewise: the hash is not that of the server
  std::vector<Ability> abilities;
};

}  // namespace paceline::trace
