#include <cmath>

#include "synth/builder.hpp"

namespace paceline::synth {

namespace {

/// Keys of both, in which layers with a window have heads of another width.
void window_keys(Builder& builder, const std::vector<bool>& windows) {
  const Shape& shape = builder.shape();
  builder.number("attention.key_length_swa", shape.local_head_dim);
  builder.number("attention.value_length_swa", shape.local_head_dim);
  builder.number("rope.dimension_count_swa", shape.local_head_dim);
  builder.real("rope.freq_base_swa", 10000);
  builder.number("attention.sliding_window", shape.window);
  builder.number("attention.shared_kv_layers", 0);
  builder.number("embedding_length_per_layer_input", 0);
  builder.flags("attention.sliding_window_pattern", windows);
}

void add_layer(Builder& builder, int layer, bool window) {
  const Shape& shape = builder.shape();
  const std::int64_t dim = window ? shape.local_head_dim : shape.head_dim;
  const std::int64_t narrow = dim * (window ? shape.kv_heads : shape.full_kv_heads);
  builder.norm(in_layer(layer, "attn_norm.weight"), shape.embd);
  builder.matrix(in_layer(layer, "attn_q.weight"), shape.embd, shape.heads * dim);
  builder.matrix(in_layer(layer, "attn_k.weight"), shape.embd, narrow);
  // Layers without a window use their keys as values.
  if (window) builder.matrix(in_layer(layer, "attn_v.weight"), shape.embd, narrow);
  builder.matrix(in_layer(layer, "attn_output.weight"), shape.heads * dim, shape.embd);
  builder.head_norms(layer, dim);
  builder.norm(in_layer(layer, "post_attention_norm.weight"), shape.embd, builder.back_gain());
  builder.norm(in_layer(layer, "layer_output_scale.weight"), 1);
  builder.norm(in_layer(layer, "ffn_norm.weight"), shape.embd);
  builder.norm(in_layer(layer, "post_ffw_norm.weight"), shape.embd, builder.back_gain());
  builder.feed_forward(layer);
}

}  // namespace

void build_gemma4(Builder& builder) {
  const Shape& shape = builder.shape();
  builder.common_keys(shape.layers);
  // An assistant reads the last two: one of each kind.
  std::vector<bool> windows;
  std::vector<std::int64_t> kv_heads;
  for (std::int64_t i = 1; i <= shape.layers; ++i) {
    windows.push_back(i != shape.layers && i % shape.interval != 0);
    kv_heads.push_back(windows.back() ? shape.kv_heads : shape.full_kv_heads);
  }
  builder.numbers("attention.head_count_kv", kv_heads);
  window_keys(builder, windows);
  builder.real("final_logit_softcapping", 30);
  builder.words(std::sqrt(static_cast<double>(shape.embd)));
  builder.norm("output_norm.weight", shape.embd);
  builder.norm("rope_freqs.weight", shape.head_dim / 2);
  for (int layer = 0; layer < shape.layers; ++layer)
    add_layer(builder, layer, windows[static_cast<std::size_t>(layer)]);
}

void build_gemma4_assistant(Builder& builder, const Target& target) {
  const Shape& shape = builder.shape();
  builder.common_keys(shape.layers);
  std::vector<bool> windows;
  std::vector<std::int64_t> kv_heads;
  for (std::int64_t i = 1; i <= shape.layers; ++i) {
    windows.push_back(i != shape.layers);
    kv_heads.push_back(windows.back() ? target.local_kv_heads : target.kv_heads);
  }
  builder.numbers("attention.head_count_kv", kv_heads);
  window_keys(builder, windows);
  builder.number("embedding_length_out", target.embd);
  builder.number("nextn_predict_layers", shape.layers);
  builder.matrix("token_embd.weight", shape.embd, shape.vocab);
  builder.norm("output_norm.weight", shape.embd);
  builder.matrix("nextn.pre_projection.weight", 2 * target.embd, shape.embd);
  builder.matrix("nextn.post_projection.weight", shape.embd, target.embd);
  builder.norm("rope_freqs.weight", shape.head_dim / 2);
  for (int layer = 0; layer < shape.layers; ++layer) {
    const std::int64_t dim =
        windows[static_cast<std::size_t>(layer)] ? shape.local_head_dim : shape.head_dim;
    builder.norm(in_layer(layer, "attn_norm.weight"), shape.embd);
    builder.matrix(in_layer(layer, "attn_q.weight"), shape.embd, shape.heads * dim);
    builder.matrix(in_layer(layer, "attn_output.weight"), shape.heads * dim, shape.embd);
    builder.norm(in_layer(layer, "attn_q_norm.weight"), dim);
    builder.norm(in_layer(layer, "post_attention_norm.weight"), shape.embd);
    builder.norm(in_layer(layer, "layer_output_scale.weight"), 1);
    builder.norm(in_layer(layer, "ffn_norm.weight"), shape.embd);
    builder.norm(in_layer(layer, "post_ffw_norm.weight"), shape.embd);
    builder.feed_forward(layer);
  }
}

}  // namespace paceline::synth
