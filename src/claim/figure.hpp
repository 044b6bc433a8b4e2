#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::claim {

/// What a figure is. The names in text are those of DEFINITIONS.
enum class Figure {
  tokens_per_s,       ///< decode speed of the arm that the row is about
  base_tokens_per_s,  ///< of plain decoding beside it
  peak_tokens_per_s,
  prefill_tokens_per_s,
  passes_per_s,
  seconds_per_token,
  base_seconds_per_token,
  decode_s,
  prefill_s,
  ttft_s,
  output_tokens,  ///< E: the first token, made by prefill, included
  tokens,         ///< likewise, where nobody says whether the first is included
  emitted,        ///< tokens of passes with a draft, as vLLM V0 counts them
  prompt_tokens,
  prompt_cached,
  prompt_processed,
  requests,
  passes,              ///< F
  passes_speculative,  ///< S
  offered,             ///< D
  accepted,            ///< A
  generated,
  attempts,
  acceptance,         ///< as it was printed, whatever it means
  accepted_per_pass,  ///< draft tokens only
  tokens_per_pass,
  acceptance_length,  ///< 1 + A/S
  offered_per_pass,   ///< D/F = fire_rate * draft_per_pass
  draft_per_pass,     ///< D/S
  fire_rate,          ///< S/(S+P)
  draft_limit,        ///< K
  most_tokens_per_pass,
  share_of_most,
  speedup,
  pass_cost,
  identity_gap,   ///< tokens - accepted - passes
  engaged_share,  ///< of output tokens, those made by passes with a draft
  acceptance_at,  ///< list: unconditional acceptance by position
  bytes_per_pass,
  parameters,
  bits_per_weight,
  file_bytes,
  bandwidth,
  ceiling_passes_per_s,
  ceiling_share,
  share,  ///< of output tokens, in a mix
  pat_decode,
  perplexity,
  depth,
  concurrency,
  memory_bytes,
  launches,
  prompts,
  n_eff,  ///< of requests, by their output tokens: DEFINITIONS 10
};
inline constexpr int figures = 54;

/// What the number is a number of: says which units may stand behind it.
enum class Dimension { rate, ratio, seconds, count, bytes, bytes_per_s, length, score };

/// As in "tokens_per_pass".
const char* name_of(Figure figure);
Dimension dimension_of(Figure figure);

/// A figure by its name, or by what people write: "spec", "accept", "k", "mal", "tau".
std::optional<Figure> figure_of(std::string_view name);

/// All names that --given takes, for its help and errors.
std::vector<std::string> given_names();

/// Lower case, with one blank where there was anything but letters, digits and '/%+@#'.
std::string plain_head(std::string_view text);

}  // namespace paceline::claim
