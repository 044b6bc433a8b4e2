#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trace/setup.hpp"
#include "util/json.hpp"

namespace paceline::protocol {

/// One message of a conversation.
struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
  std::vector<std::string> images = {};  ///< data: URLs, after the text; for servers that take them
};

/// Generates from one prompt; KV and drafter state are reset before it.
struct Generate {
  std::string prompt;                 ///< text, unless `prompt_tokens` or `messages` are given
  std::vector<ChatMessage> messages;  ///< put through the model's chat template
  std::vector<std::int32_t> prompt_tokens;  ///< token ids, used as they are; empty: use `prompt`
  int n_predict = 0;                        ///< output cap in tokens, the first one included
  trace::Sampling sampling;
  std::uint32_t seed = 0;
  bool synced = false;         ///< synchronise the device after each phase and report phases
  bool record_drafts = false;  ///< put the offered token ids into each pass
  bool record_gaps = false;    ///< put top-2 logit gaps into each emission (costs time)
  bool ignore_eos = false;     ///< go on to the cap; for servers that can
  bool warm_session = false;   ///< keep the drafter's own state (n-gram tables); KV is reset
  /// Token ids to emit whatever the sampler says, which is asked all the same: drafts are accepted
  /// as far as they agree with them. What comes after them is the sampler's. Empty: nothing is.
  std::vector<std::int32_t> forced_text = {};
  bool on_filled = false;  ///< behind the text of the last Fill, which stays
  /// At most what the open engine drafts; absent: that. Not with `on_filled` or `warm_session`.
  std::optional<trace::Drafting> drafting = {};
};

/// Puts the beginning of a text into the context, where it stays for what is asked `on_filled`.
/// Goes on behind the last Fill of this launch, whose text has to be the same.
struct Fill {
  std::string text;
  int depth = 0;  ///< tokens to end with, more than the last one's
};

/// Times passes of given widths at one depth, on tokens that mean nothing, without sampling.
struct Probe {
  std::vector<int> widths;
  int depth = 0;
  int repeats = 0;
  bool on_filled = false;  ///< at the depth of the last Fill, whose text stays
};

/// A prompt and the text that followed it, with the names that its answers carry.
struct KnownText {
  std::string workload_class;
  std::string prompt_id;
  std::string prompt;                 ///< text, unless `messages` are given
  std::vector<ChatMessage> messages;  ///< put through the model's chat template
  std::vector<std::int32_t> tokens;   ///< the text, as token ids
  std::vector<int> places;            ///< tokens of it whose margin is wanted, from 1
  std::string text = {};              ///< the text where no token ids are given (Map)
};

/// Decodes known texts once token by token and once in passes of each width, sampling nothing, and
/// says how far their logits are apart; needs an engine without a drafter.
struct Reread {
  std::vector<KnownText> texts;
  std::vector<int> widths;  ///< each at least 2; empty: only margins are wanted
};

/// Says of known texts what a drafter would have proposed at every place of them; a DraftMap a
/// text. A drafter with a model has to be open with drafts at least as long as those asked for.
/// N-grams need no open model, only token ids or a vocabulary.
struct Map {
  std::vector<KnownText> texts;
  std::vector<trace::Drafting> asks;
  trace::Setup setup = {};      ///< of n-grams: which, and their sizes but for the longest draft
  std::string vocabulary = {};  ///< of n-grams: model file whose tokenizer reads the texts; empty:
                                ///< they are split by simple rules
  int n_predict = 0;            ///< of n-grams: output cap in tokens; 0: each text's own length
  int n_ctx = 0;                ///< of n-grams: context that they have to end in; 0: any
  bool replays = false;  ///< of n-grams: for a target that decodes again what it can't roll back
  int most_tokens = 0;   ///< of a text, read from its beginning; 0: all
};

/// What the matrices of a synthesised file are stored as.
enum class Quant { as_is, f32, q8_0, q4_0 };

/// Writes a copy of a model: a laboratory target made heavier without changing what it computes, by
/// `extra_layers` layers that add nothing and every feed-forward widened to `feed_forward` with
/// dead columns, or any model with its matrices stored as `quant`, or both.
struct Synth {
  std::string source_path;
  std::string destination_path;  ///< appears only when complete
  int extra_layers = 0;
  int feed_forward = 0;  ///< 0: as in the source
  Quant quant = Quant::as_is;
  std::uint64_t ballast_bytes = 0;  ///< size of the copy; 0: as layers and feed-forward say

  bool is_heavier() const { return extra_layers != 0 || feed_forward != 0 || ballast_bytes != 0; }
};

/// Writes a model or drafter of random weights. What is not given is the architecture's default, of
/// a drafter what its target has.
struct Invent {
  std::string destination_path;               ///< appears only when complete
  std::string architecture;                   ///< or kind of drafter; empty: that of `like`
  std::string like;                           ///< a known model's shape; empty: none
  double scale = 1;                           ///< parameters over those of `like`
  std::map<std::string, std::int64_t> shape;  ///< by the names of synth::shape_fields
  std::string target_path;                    ///< of the model a drafter is for; empty: no drafter
  std::optional<double> agreement;            ///< share of greedy drafts that the target confirms
  std::uint64_t seed = 1;
  std::string quant = "f16";                    ///< ggml's name of a type, for all matrices
  std::map<std::string, std::string> quant_of;  ///< by class of tensors
};

/// Reads what a GGUF file is, without loading it; needs no open model.
struct Inspect {
  std::string path;
};

/// Says what the engine can compute on and its memory now; needs no open model.
struct ListDevices {};

/// Refuses a setup that cannot work, as far as its files' heads show; nothing is loaded.
struct Check {
  trace::Setup setup;
};

/// Loads a model by itself, with a callback in its graphs that costs time, decodes a text in passes
/// of given widths and then, with a drafter, generates behind it; says in one Observation what the
/// graphs have read. Nothing in it is timed.
struct Observe {
  trace::Setup setup;
  std::string text;         ///< to decode, at least as long as depth and widths together
  int depth = 0;            ///< tokens in the KV cache before the first of these passes
  std::vector<int> widths;  ///< one pass each, behind one another
  int n_predict = 0;        ///< tokens to generate with the drafter; 0: none
};

/// Times copies to and from each device and reads of its memory, on tensors of `bytes` or of what a
/// quarter of its free memory is, if that is less; needs no open model.
struct ProbeDevices {
  std::uint64_t bytes = 0;
  int threads = 0;  ///< of the CPU
};

using Job = std::variant<Generate, Probe, Reread, Synth, Invent, Inspect, ListDevices, Check, Fill,
                         Observe, ProbeDevices, Map>;

}  // namespace paceline::protocol

PACELINE_ENUM_NAMES(paceline::protocol::Quant, 4, {paceline::protocol::Quant::as_is, "as-is"},
                    {paceline::protocol::Quant::f32, "f32"},
                    {paceline::protocol::Quant::q8_0, "q8_0"},
                    {paceline::protocol::Quant::q4_0, "q4_0"});
