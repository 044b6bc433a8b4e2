#include "synth/architectures/linear.hpp"

namespace paceline::synth {

namespace {

/// Multi-token prediction of a walk: the block passes the last token's embedding on. The target's
/// head always knows the way from there; a head of its own knows it as often as was asked for.
void add_prediction(Builder& builder, int layer) {
  const Shape& shape = builder.shape();
  builder.tensor({.name = in_layer(layer, "nextn.eh_proj.weight"),
                  .dimensions = {2 * shape.embd, shape.embd},
                  .fill = Fill::left_half,
                  .value = 0.1 / static_cast<double>(shape.embd)});
  builder.norm(in_layer(layer, "nextn.enorm.weight"), shape.embd);
  builder.norm(in_layer(layer, "nextn.hnorm.weight"), shape.embd);
  builder.norm(in_layer(layer, "nextn.shared_head_norm.weight"), shape.embd);
  if (builder.agreement()) builder.head(in_layer(layer, "nextn.shared_head_head.weight"));
}

}  // namespace

void build_qwen35(Builder& builder) {
  const Shape& shape = builder.shape();
  builder.common_keys(shape.layers + shape.mtp);
  builder.number("attention.head_count_kv", shape.kv_heads);
  if (shape.mtp > 0) builder.number("nextn_predict_layers", shape.mtp);
  linear_keys(builder);
  builder.words();
  builder.norm("output_norm.weight", shape.embd);
  for (int layer = 0; layer < shape.layers + shape.mtp; ++layer) {
    builder.norm(in_layer(layer, "attn_norm.weight"), shape.embd);
    builder.norm(in_layer(layer, "post_attention_norm.weight"), shape.embd);
    if (layer < shape.layers && is_linear(shape, layer)) {
      linear_attention(builder, layer);
    } else {
      builder.attention(layer, shape.embd, 2);
      builder.head_norms(layer, shape.head_dim);
    }
    builder.feed_forward(layer);
    if (layer >= shape.layers) add_prediction(builder, layer);
  }
}

}  // namespace paceline::synth
