#include <algorithm>
#include <string>

#include "synth/builder.hpp"

namespace paceline::synth {

namespace {

constexpr std::int64_t most_taps = 5;
constexpr std::int64_t kernel = 3;
constexpr std::int64_t group = 32;

/// Layers of the target whose inputs are read, spread over it; the first has only embeddings.
std::vector<std::int64_t> taps_of(const Target& target) {
  const std::int64_t last = target.layers - 1;
  const std::int64_t count = std::clamp<std::int64_t>(last, 1, most_taps);
  std::vector<std::int64_t> taps;
  for (std::int64_t i = 1; i <= count; ++i) taps.push_back(i * last / count);
  return taps;
}

void add_block_drafter(Builder& builder, const Target& target) {
  const Shape& shape = builder.shape();
  const std::vector<std::int64_t> taps = taps_of(target);
  builder.common_keys(shape.layers);
  builder.number("attention.head_count_kv", shape.kv_heads);
  builder.number("block_size", shape.block);
  builder.numbers("target_layers", taps);
  if (target.has_sections)
    builder.numbers("rope.dimension_sections", {shape.head_dim / 2, 0, 0, 0});
  builder.matrix("fc.weight", static_cast<std::int64_t>(taps.size()) * shape.embd, shape.embd);
  builder.norm("enc.output_norm.weight", shape.embd);
  builder.norm("output_norm.weight", shape.embd);
  for (int layer = 0; layer < shape.layers; ++layer) {
    builder.norm(in_layer(layer, "attn_norm.weight"), shape.embd);
    builder.attention(layer, shape.embd);
    builder.head_norms(layer, shape.head_dim);
    builder.norm(in_layer(layer, "ffn_norm.weight"), shape.embd);
    builder.feed_forward(layer);
  }
}

}  // namespace

void build_dflash(Builder& builder, const Target& target) { add_block_drafter(builder, target); }

void build_dflash2(Builder& builder, const Target& target) {
  add_block_drafter(builder, target);
  const Shape& shape = builder.shape();
  builder.number("conv_kernel_size", kernel);
  builder.number("conv_group_size", group);
  builder.number("selector_rank", shape.rank);
  builder.number("selector_top_k", shape.top_k);
  builder.matrix("selector_predecessor.weight", shape.rank, shape.vocab);
  builder.matrix("selector_successor.weight", shape.rank, shape.vocab);
  builder.matrix("selector_hidden.weight", shape.embd, shape.rank);
  for (int layer = 0; layer < shape.layers; ++layer)
    for (const char* part : {"attn", "ffn"}) {
      const std::string name = in_layer(layer, part);
      builder.tensor({.name = name + "_conv_base",
                      .dimensions = {shape.embd, kernel, 2},
                      .fill = Fill::random,
                      .value = 0.5});
      builder.matrix(name + "_conv_proj.weight", shape.embd, 2 * kernel * (shape.embd / group));
    }
}

void build_dspark(Builder& builder, const Target& target) {
  add_block_drafter(builder, target);
  const Shape& shape = builder.shape();
  builder.flag("sample_from_anchor", true);
  builder.flag("has_confidence_head", true);
  // The Markov head knows the walk, and says it so loudly that nothing else is heard.
  builder.tensor({.name = "markov_w1.weight",
                  .dimensions = {shape.rank, shape.vocab},
                  .fill = Fill::words,
                  .value = 8});
  builder.tensor({.name = "markov_w2.weight",
                  .dimensions = {shape.rank, shape.vocab},
                  .fill = Fill::next_words,
                  .value = 8});
  // It is confident of every token.
  builder.norm("conf_proj.weight", shape.embd + shape.rank, 0);
  builder.norm("conf_proj.bias", 1, 4);
}

}  // namespace paceline::synth
