#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a mock server knows to be true, and what follows from it for one request. Pure: a test
// works out from the same Truth what a client has to find.

namespace paceline::mock {

/// One turn of drafting as a fixed list gives it. offered = 0: the drafter proposed nothing.
struct Round {
  int offered = 0;
  int accepted = 0;
  int replays = 0;  ///< passes after a failed verify that decode it again, as llama-server does
};

struct Sampler {
  double temperature = 0.8;
  int top_k = 40;
  double top_p = 0.95;
  double min_p = 0.05;
  double repeat_penalty = 1.0;
  std::int64_t seed = -1;
};

struct Truth {
  // The text. It depends on seed and prompt alone, so speculation changes nothing in it.
  std::uint64_t seed = 1;
  std::optional<int> prompt_tokens;  ///< of every prompt; absent: a token per four bytes
  std::optional<int> eos_after;      ///< output tokens, the end token included; absent: never
  int split_every = 0;               ///< every so many tokens a character of two tokens; 0: none
  int reasoning_tokens = 0;  ///< the first so many are reasoning, where a chat route says that

  // Time. With 0 it is as fast as it can.
  double seconds_per_pass = 0;
  double seconds_per_prompt_token = 0;

  // The prompt.
  int cached_tokens = 0;    ///< of it, taken from the cache; at least one is always decoded
  int prompt_batch = 2048;  ///< tokens of one decode call of the prompt

  // Speculation.
  bool speculates = false;
  std::string spec_type = "draft-mtp";
  int draft_length = 3;
  std::vector<double> acceptance = {0.8, 0.7, 0.6};  ///< given all before; the last goes on
  double fire_rate = 1.0;                            ///< share of passes that have a draft
  std::vector<Round> rounds;  ///< in place of the three above, from the start again at its end
  bool replays = false;       ///< a partial acceptance costs one more pass
  bool draft_capped = true;   ///< no draft reaches past the limit of tokens, as in llama-server

  // The server.
  int slots = 1;                 ///< sequences at once; requests beyond wait
  bool shared_forwards = false;  ///< all slots take part in the same forwards
  int context_per_slot = 4096;
  bool takes_images = false;
  int image_tokens = 64;  ///< prompt tokens of an image
  Sampler sampler;
  std::string build = "b1-de3ff81";
  std::string model = "mock-model";
  std::string model_path = "/models/mock-model.gguf";
  std::string quant = "Q4_K_M";
};

struct Token {
  std::int32_t id = 0;
  std::string text;  ///< bytes; half a character where the truth splits them
};

inline constexpr std::int32_t end_token = 2;

/// One pass after the prompt, with the failed verifies before it.
struct Pass {
  int offered = 0;
  int accepted = 0;
  int replays = 0;
  int emitted = 0;    ///< tokens that became output
  int overshoot = 0;  ///< tokens sampled and thrown away
};

/// What will happen in one request; counts in the letters of DEFINITIONS 1.
struct Plan {
  int prompt_tokens = 0;
  int prompt_cached = 0;
  int prompt_processed = 0;
  int prompt_batches = 0;
  bool prompt_truncated = false;
  std::vector<Token> tokens;  ///< E of them, the first made by the prompt
  std::vector<Pass> passes;
  bool ended_by_token = false;  ///< by the end token, not by the limit

  long output_tokens() const { return static_cast<long>(tokens.size()); }  ///< E
  long passes_speculative() const;                                         ///< S
  long passes_plain() const;                                               ///< P
  long passes_replay() const;                                              ///< R
  long target_passes() const;                                              ///< F = S + P + R
  long superseded() const;                                                 ///< W
  long offered() const;                                                    ///< D
  long accepted() const;                                                   ///< A
  long overshoot() const;                                                  ///< X
  std::vector<long> offered_at() const;        ///< by position, from the first
  std::vector<long> accepted_at() const;       ///< likewise
  std::vector<long> accepted_lengths() const;  ///< speculative passes by accepted tokens, from 0
  std::string text() const;
};

/// What a request asks for.
struct Limits {
  std::optional<int> tokens;  ///< longest output; absent: the context's end
  bool ignore_eos = false;
};

/// The tokens of a prompt: a fixed number, or one per four bytes and never none.
int count_prompt(const Truth& truth, std::string_view prompt);

Plan plan(const Truth& truth, std::string_view prompt, const Limits& limits);
/// Of a prompt that came as so many token ids.
Plan plan(const Truth& truth, std::string_view prompt, int prompt_tokens, const Limits& limits);

}  // namespace paceline::mock
