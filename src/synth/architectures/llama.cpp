#include "synth/builder.hpp"

namespace paceline::synth {

void build_llama(Builder& builder) {
  const Shape& shape = builder.shape();
  builder.common_keys(shape.layers);
  builder.number("attention.head_count_kv", shape.kv_heads);
  builder.words();
  builder.norm("output_norm.weight", shape.embd);
  for (int layer = 0; layer < shape.layers; ++layer) {
    builder.norm(in_layer(layer, "attn_norm.weight"), shape.embd);
    builder.attention(layer, shape.embd);
    builder.norm(in_layer(layer, "ffn_norm.weight"), shape.embd);
    builder.feed_forward(layer);
  }
}

}  // namespace paceline::synth
