#include "synth/builder.hpp"

namespace paceline::synth {

void build_eagle3(Builder& builder, const Target& target) {
  const Shape& shape = builder.shape();
  builder.common_keys(1);
  builder.number("attention.head_count_kv", shape.kv_heads);
  // One past the last layer is what the last layer gives.
  builder.numbers("target_layers", {1, (target.layers + 1) / 2, target.layers - 1});
  builder.number("target_hidden_size", target.embd);
  builder.matrix("fc.weight", 3 * target.embd, shape.embd);
  builder.norm("output_norm.weight", shape.embd);
  builder.tensor({.name = "token_embd.weight",
                  .dimensions = {shape.embd, shape.vocab},
                  .fill = Fill::words,
                  .value = 1});
  builder.matrix("output.weight", shape.embd, shape.vocab);
  builder.norm("blk.0.attn_norm.weight", shape.embd);
  builder.norm("blk.0.attn_norm_2.weight", shape.embd);
  builder.attention(0, 2 * shape.embd);
  builder.norm("blk.0.ffn_norm.weight", shape.embd);
  builder.feed_forward(0);
}

}  // namespace paceline::synth
