#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf.hpp"
#include "synth/plan.hpp"

namespace paceline::synth {

/// What a drafter has to know of the model it is for.
struct Target {
  std::string path;
  std::string architecture;
  std::int64_t layers = 0;  ///< of the trunk
  std::int64_t embd = 0;
  std::int64_t vocab = 0;
  std::int64_t kv_heads = 0;  ///< of its last layer
  std::int64_t head_dim = 0;
  std::int64_t local_head_dim = 0;
  std::int64_t local_kv_heads = 0;
  std::int64_t window = 0;
  std::int64_t context = 0;
  bool has_sections = false;  ///< M-RoPE
  bool has_mask_token = false;
  std::optional<std::uint64_t> walk;  ///< seed of its walk; absent: its text is no walk
};

/// What one architecture is made of is said to this, in ggml's terms.
class Builder {
 public:
  /// `prefix` is the architecture that keys begin with.
  Builder(Plan& plan, std::string prefix, std::optional<double> agreement)
      : plan_(plan), prefix_(std::move(prefix)), agreement_(agreement) {}

  const Shape& shape() const { return plan_.shape; }

  // Keys under the architecture's own prefix, by the type they have in the file.
  void number(std::string_view name, std::int64_t value);
  void real(std::string_view name, double value);
  void flag(std::string_view name, bool value);
  void numbers(std::string_view name, const std::vector<std::int64_t>& values);
  void wide_numbers(std::string_view name, const std::vector<std::uint64_t>& values);
  void flags(std::string_view name, const std::vector<bool>& values);

  /// What nearly every architecture says of itself.
  void common_keys(std::int64_t blocks);

  void tensor(TensorPlan tensor) { plan_.tensors.push_back(std::move(tensor)); }

  /// A matrix of random elements that keeps the size of what it is multiplied with, times `gain`.
  void matrix(const std::string& name, std::int64_t columns, std::int64_t rows, double gain = 1);

  /// A vector of ones, or of another number.
  void norm(const std::string& name, std::int64_t size, double value = 1);

  /// Queries, keys, values and what leads back, of so many heads; queries may hold a gate as well.
  void attention(int layer, std::int64_t input, std::int64_t queries = 1);
  void head_norms(int layer, std::int64_t head_dim);
  void feed_forward(int layer);

  /// Embedding and, unless tied, a head that makes the text a walk. The model itself multiplies
  /// embeddings by `embedding_scale` and logits by `logit_scale`.
  void words(double embedding_scale = 1, double logit_scale = 1);

  /// A matrix whose row for each word points at the word after it, to a logit that beats all.
  void head(const std::string& name, double logit_scale = 1);

  /// What the user chose; absent: nothing.
  const std::optional<double>& agreement() const { return agreement_; }

  /// What matrices that lead back into the residual stream are scaled by: little, where the text
  /// is a walk, so that the last token decides about the next.
  double back_gain() const;

 private:
  Plan& plan_;
  std::string prefix_;
  std::optional<double> agreement_;
};

/// "blk.3.attn_norm.weight".
std::string in_layer(int layer, std::string_view rest);

// One file each; the shape was checked and is in the plan.
void build_llama(Builder& builder);
void build_muse_glimmer(Builder& builder);
void build_gemma4(Builder& builder);
void build_qwen35(Builder& builder);
void build_qwen4exp(Builder& builder);
void build_gemma4_assistant(Builder& builder, const Target& target);
void build_dflash(Builder& builder, const Target& target);
void build_dflash2(Builder& builder, const Target& target);
void build_dspark(Builder& builder, const Target& target);
void build_eagle3(Builder& builder, const Target& target);

}  // namespace paceline::synth
