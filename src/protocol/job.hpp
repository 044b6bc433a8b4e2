#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "trace/setup.hpp"

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
};

/// Times passes of given widths at one depth, on tokens that mean nothing, without sampling.
struct Probe {
  std::vector<int> widths;
  int depth = 0;
  int repeats = 0;
};

/// Writes a heavier copy of a laboratory target that computes the same outputs: `extra_layers`
/// layers that add nothing and every feed-forward widened to `feed_forward` with dead columns.
struct Synth {
  std::string source_path;
  std::string destination_path;  ///< appears only when complete
  int extra_layers = 0;
  int feed_forward = 0;
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

using Job = std::variant<Generate, Probe, Synth, Inspect, ListDevices, Check>;

}  // namespace paceline::protocol
