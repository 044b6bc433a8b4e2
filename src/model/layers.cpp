#include "model/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "util/misused.hpp"
#include "util/printable.hpp"

namespace paceline::model {

namespace {

constexpr std::int64_t most = 1 << 24;  // of anything that is counted here
constexpr std::int64_t most_layers = 4096;
constexpr std::int64_t state_element = 4;  // llama.cpp keeps recurrent states in F32

tl::unexpected<util::Error> missing(const Gguf& head, const std::string& key) {
  return util::misused("{}.{} is missing or makes no sense", util::printable(head.architecture()),
                       key);
}

/// A number from 0 to `most`, or the fallback where the key is not there.
util::Result<std::int64_t> number(const Gguf& head, const std::string& key,
                                  std::optional<std::int64_t> fallback = std::nullopt) {
  const bool there = head.find(head.architecture() + "." + key) != nullptr;
  const auto value = there ? head.own_number(key) : fallback;
  if (!value || *value < 0 || *value > most) return missing(head, key);
  return *value;
}

/// One number for each layer, where the file may also have one for all.
util::Result<std::vector<std::int64_t>> by_layer(const Gguf& head, const std::string& key,
                                                 std::size_t layers, std::int64_t fallback) {
  if (head.array(head.architecture() + "." + key) == nullptr) {
    PACELINE_TRY_ASSIGN(const std::int64_t all, number(head, key, fallback));
    return std::vector<std::int64_t>(layers, all);
  }
  auto values = head.own_numbers(key);
  const auto sane = [](std::int64_t value) { return value >= 0 && value <= most; };
  if (!values || values->size() < layers || !std::all_of(values->begin(), values->end(), sane))
    return missing(head, key);
  return std::move(*values);
}

/// Which layers look back through a window: by a list, or all but every so-manieth.
util::Result<std::vector<bool>> windows(const Gguf& head, std::size_t layers) {
  const std::string key = "attention.sliding_window_pattern";
  std::vector<bool> found(layers, false);
  if (head.array(head.architecture() + "." + key) != nullptr) {
    PACELINE_TRY_ASSIGN(const auto listed, by_layer(head, key, layers, 0));
    for (std::size_t i = 0; i < layers; ++i) found[i] = listed[i] != 0;
    return found;
  }
  if (head.architecture() != "muse-glimmer") return missing(head, key);
  PACELINE_TRY_ASSIGN(const std::int64_t every, number(head, key, 4));
  for (std::size_t i = 0; i < layers; ++i)
    found[i] = every == 0 || static_cast<std::int64_t>(i) % every < every - 1;
  return found;
}

bool has_windows(const Gguf& head) {
  const std::string architecture = head.architecture();
  if (architecture == "dflash") return head.own_number("attention.sliding_window").value_or(0) > 0;
  return architecture == "muse-glimmer" || architecture.starts_with("gemma4");
}

util::Result<void> set_windows(const Gguf& head, std::vector<Layer>& layers) {
  if (!has_windows(head)) return {};
  PACELINE_TRY_ASSIGN(const std::int64_t window, number(head, "attention.sliding_window"));
  PACELINE_TRY_ASSIGN(const auto windowed, windows(head, layers.size()));
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (windowed[i]) layers[i].window = static_cast<int>(window);
  return {};
}

/// Elements of a cell: heads of keys times the width of one, which windows may make another.
util::Result<void> set_cells(const Gguf& head, std::vector<Layer>& layers) {
  PACELINE_TRY_ASSIGN(const auto heads, by_layer(head, "attention.head_count", layers.size(), 0));
  PACELINE_TRY_ASSIGN(const std::int64_t width, number(head, "embedding_length"));
  const std::int64_t first = heads.empty() ? 0 : heads.front();
  const std::int64_t usual = first > 0 ? width / first : 0;
  PACELINE_TRY_ASSIGN(const std::int64_t key, number(head, "attention.key_length", usual));
  PACELINE_TRY_ASSIGN(const std::int64_t value, number(head, "attention.value_length", usual));
  PACELINE_TRY_ASSIGN(const std::int64_t local_key, number(head, "attention.key_length_swa", key));
  PACELINE_TRY_ASSIGN(const std::int64_t local_value,
                      number(head, "attention.value_length_swa", value));
  PACELINE_TRY_ASSIGN(const auto kv_heads,
                      by_layer(head, "attention.head_count_kv", layers.size(), first));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool local = layers[i].window > 0;
    layers[i].key_elements = static_cast<std::uint64_t>(kv_heads[i] * (local ? local_key : key));
    layers[i].value_elements =
        static_cast<std::uint64_t>(kv_heads[i] * (local ? local_value : value));
  }
  return {};
}

/// Of gemma4 the last layers may read what the last one of their kind before them has stored.
util::Result<void> share_cells(const Gguf& head, std::vector<Layer>& layers) {
  if (head.architecture() != "gemma4") return {};
  PACELINE_TRY_ASSIGN(const std::int64_t shared, number(head, "attention.shared_kv_layers", 0));
  const auto all = static_cast<std::int64_t>(layers.size());
  if (shared == 0) return {};
  if (shared > all - 2) return missing(head, "attention.shared_kv_layers");
  const auto own = static_cast<std::size_t>(all - shared);
  for (std::size_t i = own; i < layers.size(); ++i) {
    const std::size_t last_of_kind = own - (layers[i].window > 0 ? 2 : 1);
    const Layer& read = layers[last_of_kind];
    layers[i].cells_of = static_cast<int>(last_of_kind);
    layers[i].key_elements = read.key_elements;
    layers[i].value_elements = read.value_elements;
    layers[i].window = read.window;
  }
  return {};
}

util::Result<void> set_recurrent(const Gguf& head, std::size_t trunk, std::vector<Layer>& layers) {
  const bool indexed = head.architecture() == "qwen4exp";
  if (head.architecture() != "qwen35" && !indexed) return {};
  const std::string list = "attention.recurrent_layers";
  const bool listed = head.array(head.architecture() + "." + list) != nullptr;
  PACELINE_TRY_ASSIGN(const auto flags, by_layer(head, list, layers.size(), 0));
  PACELINE_TRY_ASSIGN(const std::int64_t interval, number(head, "full_attention_interval", 4));
  if (!listed && interval == 0) return missing(head, "full_attention_interval");
  PACELINE_TRY_ASSIGN(const auto ratios,
                      by_layer(head, "attention.compress_ratios", layers.size(), 0));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].recurrent =
        listed ? flags[i] != 0 : i < trunk && static_cast<std::int64_t>(i + 1) % interval != 0;
    layers[i].has_indexer = indexed && !layers[i].recurrent && ratios[i] > 0;
  }
  return {};
}

}  // namespace

util::Result<std::vector<Layer>> layers_of(const Gguf& head) {
  PACELINE_TRY_ASSIGN(const std::int64_t blocks, number(head, "block_count"));
  const auto trunk = head.trunk_layers();
  if (blocks < 1 || blocks > most_layers || !trunk || *trunk < 0)
    return missing(head, "block_count");
  std::vector<Layer> layers(static_cast<std::size_t>(blocks));
  PACELINE_TRY(set_windows(head, layers));
  PACELINE_TRY(set_cells(head, layers));
  PACELINE_TRY(share_cells(head, layers));
  PACELINE_TRY(set_recurrent(head, static_cast<std::size_t>(*trunk), layers));
  return layers;
}

util::Result<std::uint64_t> state_bytes(const Gguf& head) {
  PACELINE_TRY_ASSIGN(const std::int64_t kernel, number(head, "ssm.conv_kernel"));
  PACELINE_TRY_ASSIGN(const std::int64_t inner, number(head, "ssm.inner_size"));
  PACELINE_TRY_ASSIGN(const std::int64_t state, number(head, "ssm.state_size"));
  PACELINE_TRY_ASSIGN(const std::int64_t groups, number(head, "ssm.group_count"));
  const double remembered =
      static_cast<double>(std::max<std::int64_t>(kernel - 1, 0)) *
      (static_cast<double>(inner) + 2.0 * static_cast<double>(groups * state));
  const double whole = remembered + static_cast<double>(state) * static_cast<double>(inner);
  if (whole > static_cast<double>(most) * static_cast<double>(most))
    return missing(head, "ssm.inner_size");
  return static_cast<std::uint64_t>(whole) * state_element;
}

}  // namespace paceline::model
