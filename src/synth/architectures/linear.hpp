#pragma once

#include "synth/builder.hpp"

namespace paceline::synth {

/// Keys of the gated delta nets that qwen35 and qwen4exp share, and of their rope.
void linear_keys(Builder& builder);

/// The tensors of such a layer.
void linear_attention(Builder& builder, int layer);

/// Whether a layer of the trunk is one.
inline bool is_linear(const Shape& shape, int layer) { return (layer + 1) % shape.interval != 0; }

}  // namespace paceline::synth
