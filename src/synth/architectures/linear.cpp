#include "synth/architectures/linear.hpp"

namespace paceline::synth {

namespace {
constexpr std::int64_t convolution = 4;
}

void linear_keys(Builder& builder) {
  const Shape& shape = builder.shape();
  const std::int64_t pairs = (shape.rope_dims > 0 ? shape.rope_dims : shape.head_dim) / 2;
  const std::int64_t each = pairs / 3;
  builder.number("full_attention_interval", shape.interval);
  builder.numbers("rope.dimension_sections", {pairs - 2 * each, each, each, 0});
  builder.number("ssm.conv_kernel", convolution);
  builder.number("ssm.inner_size", shape.state * shape.value_heads);
  builder.number("ssm.state_size", shape.state);
  builder.number("ssm.time_step_rank", shape.value_heads);
  builder.number("ssm.group_count", shape.key_groups);
}

void linear_attention(Builder& builder, int layer) {
  const Shape& shape = builder.shape();
  const std::int64_t values = shape.state * shape.value_heads;
  const std::int64_t mixed = 2 * shape.state * shape.key_groups + values;
  builder.matrix(in_layer(layer, "attn_qkv.weight"), shape.embd, mixed);
  builder.matrix(in_layer(layer, "attn_gate.weight"), shape.embd, values);
  builder.matrix(in_layer(layer, "ssm_conv1d.weight"), convolution, mixed);
  builder.norm(in_layer(layer, "ssm_dt.bias"), shape.value_heads, 0.1);
  // A_log is a negative number: the state decays.
  builder.tensor({.name = in_layer(layer, "ssm_a"),
                  .dimensions = {shape.value_heads},
                  .fill = Fill::negative,
                  .value = 0.5});
  builder.matrix(in_layer(layer, "ssm_beta.weight"), shape.embd, shape.value_heads);
  builder.matrix(in_layer(layer, "ssm_alpha.weight"), shape.embd, shape.value_heads);
  builder.norm(in_layer(layer, "ssm_norm.weight"), shape.state);
  builder.matrix(in_layer(layer, "ssm_out.weight"), values, shape.embd, builder.back_gain());
}

}  // namespace paceline::synth
