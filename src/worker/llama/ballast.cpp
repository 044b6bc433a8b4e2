#include "worker/llama/ballast.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace paceline::worker {

namespace {

/// "blk.3.attn_norm.weight" taken apart.
struct LayerName {
  int layer = 0;
  std::string_view rest;
};

std::optional<LayerName> layer_name(std::string_view name) {
  constexpr std::string_view prefix = "blk.";
  if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
  LayerName parsed;
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(begin, end, parsed.layer);
  if (error != std::errc{} || rest == end || *rest != '.') return std::nullopt;
  parsed.rest = std::string_view(rest + 1, static_cast<std::size_t>(end - rest - 1));
  return parsed;
}

std::string name_in_layer(int layer, std::string_view rest) {
  return fmt::format("blk.{}.{}", layer, rest);
}

void widen(std::string_view rest, std::int64_t feed_forward, HeavyTensor& tensor) {
  if (feed_forward == 0) return;
  if (rest == "ffn_gate.weight" || rest == "ffn_up.weight") {
    tensor.shape.rows = feed_forward;
    tensor.fill = Fill::random;
  }
  if (rest == "ffn_down.weight") tensor.shape.columns = feed_forward;
}

HeavyTensor heavier_copy(const SourceTensor& source, int index, const Ballast& ballast) {
  HeavyTensor tensor{.name = source.name,
                     .type = source.type,
                     .shape = source.shape,
                     .source = index,
                     .depth = source.depth};
  const auto name = layer_name(source.name);
  if (!name) return tensor;
  if (name->layer >= ballast.trunk_layers)
    tensor.name = name_in_layer(name->layer + ballast.extra_layers, name->rest);
  widen(name->rest, ballast.feed_forward, tensor);
  return tensor;
}

Fill neutral_fill(std::string_view rest) {
  // Of attention, of a feed-forward, of experts and of the expert for all tokens.
  if (rest.starts_with("attn_output.") || rest.starts_with("ffn_down")) return Fill::zero;
  const bool scales =
      rest.find("norm") != std::string_view::npos || rest.find("_scale") != std::string_view::npos;
  return scales ? Fill::one : Fill::random;
}

void add_layer(const std::vector<SourceTensor>& source, const Ballast& ballast, int layer,
               std::vector<HeavyTensor>& tensors) {
  for (const SourceTensor& model : source) {
    const auto name = layer_name(model.name);
    if (!name || name->layer != ballast.template_layer) continue;
    HeavyTensor tensor{.name = name_in_layer(layer, name->rest),
                       .type = model.type,
                       .shape = model.shape,
                       .depth = model.depth};
    widen(name->rest, ballast.feed_forward, tensor);
    tensor.fill = neutral_fill(name->rest);
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace

std::vector<HeavyTensor> plan_heavier(const std::vector<SourceTensor>& source,
                                      const Ballast& ballast) {
  std::vector<HeavyTensor> tensors;
  for (std::size_t i = 0; i < source.size(); ++i)
    tensors.push_back(heavier_copy(source[i], static_cast<int>(i), ballast));
  for (int i = 0; i < ballast.extra_layers; ++i)
    add_layer(source, ballast, ballast.trunk_layers + i, tensors);
  return tensors;
}

}  // namespace paceline::worker
