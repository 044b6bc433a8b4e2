#include "synth/builder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace paceline::synth {

namespace {

constexpr double residual_share = 0.1;  // of all layers together, beside the embedding's 1
constexpr double winning_logit = 25;    // beside others of about 25 over the root of the width

}  // namespace

std::string in_layer(int layer, std::string_view rest) {
  return fmt::format("blk.{}.{}", layer, rest);
}

void Builder::number(std::string_view name, std::int64_t value) {
  plan_.keys.push_back({fmt::format("{}.{}", prefix_, name), static_cast<std::uint32_t>(value)});
}

void Builder::real(std::string_view name, double value) {
  plan_.keys.push_back({fmt::format("{}.{}", prefix_, name), static_cast<float>(value)});
}

void Builder::flag(std::string_view name, bool value) {
  plan_.keys.push_back({fmt::format("{}.{}", prefix_, name), value});
}

void Builder::numbers(std::string_view name, const std::vector<std::int64_t>& values) {
  std::vector<std::uint32_t> narrow;
  for (const std::int64_t value : values) narrow.push_back(static_cast<std::uint32_t>(value));
  plan_.keys.push_back({fmt::format("{}.{}", prefix_, name), std::move(narrow)});
}

void Builder::wide_numbers(std::string_view name, const std::vector<std::uint64_t>& values) {
  plan_.keys.push_back({fmt::format("{}.{}", prefix_, name), values});
}

void Builder::flags(std::string_view name, const std::vector<bool>& values) {
  plan_.keys.push_back({fmt::format("{}.{}", prefix_, name), values});
}

void Builder::common_keys(std::int64_t blocks) {
  number("context_length", shape().context);
  number("embedding_length", shape().embd);
  number("block_count", blocks);
  number("feed_forward_length", shape().ff);
  number("attention.head_count", shape().heads);
  number("attention.key_length", shape().head_dim);
  number("attention.value_length", shape().head_dim);
  real("attention.layer_norm_rms_epsilon", 1e-5);
  number("rope.dimension_count", shape().rope_dims > 0 ? shape().rope_dims : shape().head_dim);
  real("rope.freq_base", 10000);
  number("vocab_size", shape().vocab);
}

void Builder::matrix(const std::string& name, std::int64_t columns, std::int64_t rows,
                     double gain) {
  tensor({.name = name,
          .dimensions = {columns, rows},
          .fill = Fill::random,
          .value = gain / std::sqrt(static_cast<double>(columns))});
}

void Builder::norm(const std::string& name, std::int64_t size, double value) {
  tensor({.name = name, .dimensions = {size}, .fill = Fill::constant, .value = value});
}

void Builder::attention(int layer, std::int64_t input, std::int64_t queries) {
  const std::int64_t width = shape().heads * shape().head_dim;
  const std::int64_t narrow = shape().kv_heads * shape().head_dim;
  matrix(in_layer(layer, "attn_q.weight"), input, width * queries);
  matrix(in_layer(layer, "attn_k.weight"), input, narrow);
  matrix(in_layer(layer, "attn_v.weight"), input, narrow);
  matrix(in_layer(layer, "attn_output.weight"), width, shape().embd, back_gain());
}

void Builder::head_norms(int layer, std::int64_t head_dim) {
  norm(in_layer(layer, "attn_q_norm.weight"), head_dim);
  norm(in_layer(layer, "attn_k_norm.weight"), head_dim);
}

void Builder::feed_forward(int layer) {
  matrix(in_layer(layer, "ffn_gate.weight"), shape().embd, shape().ff);
  matrix(in_layer(layer, "ffn_up.weight"), shape().embd, shape().ff);
  matrix(in_layer(layer, "ffn_down.weight"), shape().ff, shape().embd, back_gain());
}

void Builder::words(double embedding_scale, double logit_scale) {
  tensor({.name = "token_embd.weight",
          .dimensions = {shape().embd, shape().vocab},
          .fill = Fill::words,
          .value = 1 / embedding_scale});
  if (shape().tied == 0) head("output.weight", logit_scale);
}

void Builder::head(const std::string& name, double logit_scale) {
  tensor({.name = name,
          .dimensions = {shape().embd, shape().vocab},
          .fill = Fill::next_words,
          .value = winning_logit / (static_cast<double>(shape().embd) * logit_scale)});
}

double Builder::back_gain() const {
  if (shape().tied != 0) return 1;
  return residual_share / std::sqrt(static_cast<double>(shape().layers));
}

}  // namespace paceline::synth
