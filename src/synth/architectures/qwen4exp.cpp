#include <cmath>
#include <string>

#include "synth/architectures/linear.hpp"

namespace paceline::synth {

namespace {

constexpr std::int64_t ngram = 3;
constexpr std::int64_t compression = 4;  // of an indexer's keys
constexpr std::int64_t table_convolution = 4;

void ngram_keys(Builder& builder) {
  const Shape& shape = builder.shape();
  const std::int64_t tables = (ngram - 1) * shape.ngram_heads;
  std::vector<std::uint64_t> offsets;
  for (std::int64_t i = 0; i < tables; ++i)
    offsets.push_back(static_cast<std::uint64_t>(i * shape.ngram_rows));
  builder.numbers("ple.layers", {0});
  builder.number("ple.ngram_size", ngram);
  builder.number("ple.heads_per_ngram", shape.ngram_heads);
  builder.number("ple.conv_kernel", table_convolution);
  builder.number("ple.eos_token_id", 2);
  builder.number("embedding_length_per_layer_input", shape.embd / tables);
  builder.wide_numbers("ple.layer_multipliers", {11, 1000003, 7919});
  builder.wide_numbers("ple.head_offsets", offsets);
  builder.wide_numbers("ple.head_vocab_sizes",
                       std::vector<std::uint64_t>(static_cast<std::size_t>(tables),
                                                  static_cast<std::uint64_t>(shape.ngram_rows)));
}

void own_keys(Builder& builder) {
  const Shape& shape = builder.shape();
  builder.number("expert_count", shape.experts);
  builder.number("expert_used_count", shape.experts_used);
  builder.number("expert_feed_forward_length", shape.expert_ff);
  builder.number("expert_shared_feed_forward_length", shape.shared_ff);
  builder.number("hyper_connection.count", shape.streams);
  builder.number("hyper_connection.low_rank", shape.stream_rank);
  builder.number("attention.indexer.head_count", shape.index_heads);
  builder.number("attention.indexer.key_length", shape.index_dim);
  builder.number("attention.indexer.top_k", shape.index_top);
  std::vector<std::int64_t> ratios;
  for (int layer = 0; layer < shape.layers; ++layer)
    ratios.push_back(is_linear(shape, layer) ? 0 : compression);
  builder.numbers("attention.compress_ratios", ratios);
}

/// The mixers of the residual streams around attention and experts.
void add_mixers(Builder& builder, int layer) {
  const Shape& shape = builder.shape();
  const std::int64_t all = shape.streams * shape.embd;
  for (const char* name : {"hc_attn", "hc_ffn"}) {
    const std::string mixer = in_layer(layer, name);
    builder.norm(mixer + "_norm.weight", all);
    builder.matrix(mixer + "_down.weight", all, shape.stream_rank);
    builder.matrix(mixer + "_up.weight", shape.stream_rank, all);
    builder.matrix(mixer + "_inject.weight", all, shape.streams);
  }
}

void add_indexer(Builder& builder, int layer) {
  const Shape& shape = builder.shape();
  builder.matrix(in_layer(layer, "indexer.q_proj.weight"), shape.embd,
                 shape.index_heads * shape.index_dim);
  builder.matrix(in_layer(layer, "indexer.k_proj.weight"), shape.embd, shape.index_dim);
  builder.norm(in_layer(layer, "indexer.q_norm.weight"), shape.index_dim);
  builder.norm(in_layer(layer, "indexer.k_norm.weight"), shape.index_dim);
}

/// What the first layer makes of the rows of the n-gram tables.
void add_table_reader(Builder& builder) {
  const Shape& shape = builder.shape();
  const std::int64_t all = shape.streams * shape.embd;
  builder.matrix("blk.0.ple_key.weight", shape.embd, all);
  builder.matrix("blk.0.ple_value.weight", shape.embd, shape.embd, builder.back_gain());
  for (const char* name : {"key", "query", "conv"})
    builder.norm(std::string("blk.0.ple_norm_") + name + ".weight", all,
                 std::string(name) == "conv" ? builder.back_gain() : 1);
  builder.matrix("blk.0.ple_conv1d.weight", table_convolution, all);
}

void add_experts(Builder& builder, int layer) {
  const Shape& shape = builder.shape();
  const auto experts = [&](const char* name, std::int64_t columns, std::int64_t rows, double gain) {
    builder.tensor({.name = in_layer(layer, name),
                    .dimensions = {columns, rows, shape.experts},
                    .fill = Fill::random,
                    .value = gain / std::sqrt(static_cast<double>(columns))});
  };
  builder.matrix(in_layer(layer, "ffn_gate_inp.weight"), shape.embd, shape.experts);
  experts("ffn_down_exps.weight", shape.expert_ff, shape.embd, builder.back_gain());
  experts("ffn_gate_exps.weight", shape.embd, shape.expert_ff, 1);
  experts("ffn_up_exps.weight", shape.embd, shape.expert_ff, 1);
  builder.norm(in_layer(layer, "ffn_gate_inp_shexp.weight"), shape.embd, 0.01);
  builder.matrix(in_layer(layer, "ffn_gate_shexp.weight"), shape.embd, shape.shared_ff);
  builder.matrix(in_layer(layer, "ffn_up_shexp.weight"), shape.embd, shape.shared_ff);
  builder.matrix(in_layer(layer, "ffn_down_shexp.weight"), shape.shared_ff, shape.embd,
                 builder.back_gain());
}

}  // namespace

void build_qwen4exp(Builder& builder) {
  const Shape& shape = builder.shape();
  const std::int64_t all = shape.streams * shape.embd;
  const std::int64_t tables = (ngram - 1) * shape.ngram_heads;
  builder.common_keys(shape.layers);
  builder.number("attention.head_count_kv", shape.kv_heads);
  linear_keys(builder);
  own_keys(builder);
  ngram_keys(builder);
  builder.words();
  builder.matrix("per_layer_token_embd.weight", shape.embd / tables, tables * shape.ngram_rows);
  builder.norm("output_hc_norm.weight", all);
  builder.matrix("output_hc_down.weight", all, shape.stream_rank);
  builder.matrix("output_hc_up.weight", shape.stream_rank, all);
  for (int layer = 0; layer < shape.layers; ++layer) {
    add_mixers(builder, layer);
    if (is_linear(shape, layer)) {
      linear_attention(builder, layer);
    } else {
      builder.attention(layer, shape.embd, 2);
      builder.head_norms(layer, shape.head_dim);
      add_indexer(builder, layer);
    }
    if (layer == 0) add_table_reader(builder);
    add_experts(builder, layer);
  }
}

}  // namespace paceline::synth
