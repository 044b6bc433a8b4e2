#include "worker/llama/pairing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "model/drafter.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

// Which architectures' graphs do what in llama.cpp v0.5.0; no function of it tells.

/// Keep what the last layer gives (t_h_nextn).
constexpr std::array last_rows_kept = {
    "bailingmoe3",    "cohere2moe", "deepseek2", "deepseek32", "deepseek4", "gemma4",
    "glm-dsa",        "glm4moe",    "gpt-oss",   "hy_v3",      "mimo2",     "nemotron_h",
    "nemotron_h_moe", "qwen35",     "qwen35moe", "qwen3next",  "step35"};

constexpr std::string_view assistant = "gemma4-assistant";

template <std::size_t size>
bool among(const std::array<const char*, size>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string shown(std::optional<std::int64_t> value) {
  return value ? std::to_string(*value) : "nothing";
}

util::Result<void> check_fits(const model::Gguf& target, const model::Gguf& drafter,
                              const char* of_drafter, const char* of_target) {
  const auto theirs = drafter.own_number(of_drafter);
  const auto ours = target.own_number(of_target);
  if (theirs == ours) return {};
  return refuse(
      "The drafter '{}' does not fit the target '{}': its {}.{} is {}, the target's {}.{} is {}; "
      "use the drafter that was made for this target.",
      drafter.path(), target.path(), drafter.architecture(), of_drafter, shown(theirs),
      target.architecture(), of_target, shown(ours));
}

/// It reads the KV cache of the target's last two layers: one with a sliding window, one without.
util::Result<void> check_assistant(const model::Gguf& target, const model::Gguf& drafter) {
  PACELINE_TRY(check_fits(target, drafter, "embedding_length_out", "embedding_length"));
  for (const char* key : {"attention.key_length", "attention.value_length",
                          "attention.key_length_swa", "attention.value_length_swa"})
    PACELINE_TRY(check_fits(target, drafter, key, key));
  // Where the target says it layer by layer, llama.cpp sees to it.
  if (target.own_number("attention.head_count_kv"))
    PACELINE_TRY(check_fits(target, drafter, "attention.head_count_kv", "attention.head_count_kv"));
  const auto windows = target.own_numbers("attention.sliding_window_pattern");
  if (!windows) return {};
  const std::size_t layers = windows->size();
  if (layers >= 2 && (*windows)[layers - 2] != 0 && (*windows)[layers - 1] == 0) return {};
  return refuse(
      "The drafter '{}' reads the caches of its target's last two layers, the first with a sliding "
      "window and the second without, which those of '{}' are not: use another target.",
      drafter.path(), target.path());
}

bool has_tensor_ending(const model::Gguf& file, std::string_view end) {
  return std::any_of(file.tensors().begin(), file.tensors().end(),
                     [&](const model::Tensor& tensor) { return tensor.name.ends_with(end); });
}

}  // namespace

util::Result<void> check_hands_out_layers(const model::Gguf& target, const model::Gguf& drafter) {
  if (model::hands_out_layers(target.architecture())) return {};
  const std::int64_t rows = target.own_number("hyper_connection.count").value_or(1);
  if (rows > 1)
    return refuse(
        "The drafter '{}' reads layers of its target, and '{}' carries {} rows a token between its "
        "layers, which llama.cpp v0.5.0 hands out as if they were one: take draft-simple or "
        "n-grams.",
        drafter.path(), target.path(), rows);
  return refuse(
      "The drafter '{}' reads layers of its target, and llama.cpp v0.5.0 hands out none of "
      "architecture '{}' ('{}'): take draft-simple or n-grams.",
      drafter.path(), target.architecture(), target.path());
}

util::Result<void> check_hands_out_last_rows(const model::Gguf& target,
                                             const model::Gguf& drafter) {
  if (among(last_rows_kept, target.architecture())) return {};
  return refuse(
      "The drafter '{}' reads what the last layer of its target gives, which llama.cpp v0.5.0 does "
      "not hand out of architecture '{}' ('{}'): use a drafter that reads layers before it.",
      drafter.path(), target.architecture(), target.path());
}

util::Result<void> check_mtp_block(const model::Gguf& holder) {
  if (holder.architecture() == assistant) return {};
  if (!among(last_rows_kept, holder.architecture()))
    return refuse(
        "'{}' says that it has an MTP block, and llama.cpp v0.5.0 runs none of architecture '{}': "
        "take another --spec-type.",
        holder.path(), holder.architecture());
  if (has_tensor_ending(holder, ".nextn.eh_proj.weight")) return {};
  return refuse(
      "'{}' says that it has an MTP block and lacks its tensors (nextn.eh_proj): convert it again.",
      holder.path());
}

util::Result<void> check_mtp_file(const model::Gguf& target, const model::Gguf& drafter) {
  const bool assists = drafter.architecture() == assistant;
  const std::string wanted = assists ? "gemma4" : drafter.architecture();
  if (target.architecture() != wanted)
    return refuse(
        "'{}' drafts for targets of architecture '{}', and '{}' is of architecture '{}': use the "
        "drafter that was made for this target.",
        drafter.path(), wanted, target.path(), target.architecture());
  if (assists) return check_assistant(target, drafter);
  return check_fits(target, drafter, "embedding_length", "embedding_length");
}

}  // namespace paceline::worker
