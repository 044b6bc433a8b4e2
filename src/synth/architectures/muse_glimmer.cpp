#include "synth/builder.hpp"

namespace paceline::synth {

namespace {
constexpr double logit_scale = 0.19611613513818404;  // the 30 B model's own
}

void build_muse_glimmer(Builder& builder) {
  const Shape& shape = builder.shape();
  builder.common_keys(shape.layers);
  builder.number("attention.head_count_kv", shape.kv_heads);
  builder.number("attention.sliding_window", shape.window);
  builder.real("logit_scale", logit_scale);
  builder.real("final_logit_softcapping", 20);
  std::vector<bool> windows;
  for (std::int64_t i = 1; i <= shape.layers; ++i) windows.push_back(i % shape.interval != 0);
  builder.flags("attention.sliding_window_pattern", windows);
  builder.words(1, logit_scale);
  builder.norm("output_norm.weight", shape.embd);
  for (int layer = 0; layer < shape.layers; ++layer) {
    builder.norm(in_layer(layer, "attn_norm.weight"), shape.embd);
    // These scale what a layer adds, whatever the matrices before them do.
    builder.norm(in_layer(layer, "post_attention_norm.weight"), shape.embd, builder.back_gain());
    builder.attention(layer, shape.embd);
    builder.head_norms(layer, shape.head_dim);
    builder.matrix(in_layer(layer, "attn_gate.weight"), shape.embd, shape.heads * shape.head_dim);
    builder.norm(in_layer(layer, "ffn_norm.weight"), shape.embd);
    builder.norm(in_layer(layer, "post_ffw_norm.weight"), shape.embd, builder.back_gain());
    builder.feed_forward(layer);
  }
}

}  // namespace paceline::synth
