#include "model/reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/drafter.hpp"
#include "model/layers.hpp"
#include "model/recipe.hpp"
#include "util/misused.hpp"
#include "util/printable.hpp"

namespace paceline::model {

namespace {

// Those whose graphs the rules below were held against.
constexpr std::array known_architectures = {
    "llama",  "qwen2",    "qwen3",  "qwen3moe",         "muse-glimmer", "gemma4",
    "qwen35", "qwen4exp", "dflash", "gemma4-assistant", "eagle3"};

// Classes, in the order of a report.
constexpr std::array class_order = {"embedding",
                                    "per-layer table",
                                    "n-gram table",
                                    "attention",
                                    "linear attention",
                                    "feed-forward",
                                    "router",
                                    "shared experts",
                                    "stream mixers",
                                    "per-layer input",
                                    "drafter parts",
                                    "head",
                                    "norms"};

struct Beginning {
  std::string_view text;
  const char* name;
};

/// By the beginning of a tensor's name without block number and suffix; the first that fits.
constexpr std::array beginnings = {
    Beginning{"attn_conv_", "drafter parts"},
    Beginning{"ffn_conv_", "drafter parts"},
    Beginning{"ffn_gate_inp_shexp", "shared experts"},
    Beginning{"ffn_gate_inp", "router"},
    Beginning{"exp_probs_b", "router"},
    Beginning{"ffn_", "feed-forward"},
    Beginning{"attn_", "attention"},
    Beginning{"indexer.", "attention"},
    Beginning{"ssm_", "linear attention"},
    Beginning{"hc_", "stream mixers"},
    Beginning{"output_hc_", "stream mixers"},
    Beginning{"ple_", "per-layer input"},
    Beginning{"per_layer_", "per-layer input"},
    Beginning{"inp_gate", "per-layer input"},
    Beginning{"proj", "per-layer input"},
    Beginning{"rope_freqs", "norms"},
    Beginning{"layer_output_scale", "norms"},
    Beginning{"fc", "drafter parts"},
    Beginning{"d2t", "drafter parts"},
    Beginning{"selector_hidden", "drafter parts"},
    Beginning{"nextn.eh_proj", "drafter parts"},
    Beginning{"nextn.pre_projection", "drafter parts"},
    Beginning{"nextn.post_projection", "drafter parts"},
};

/// The name without what says that it is not the matrix itself.
std::string stem_of(std::string name) {
  for (const std::string_view suffix : {".bias", ".scale"})
    if (name.size() > suffix.size() && name.ends_with(suffix))
      name.erase(name.size() - suffix.size());
  return name;
}

/// Null for a tensor that no rule is known for; `layer` is null outside the blocks.
const char* class_of(const std::string& stem, const Layer* layer = nullptr) {
  if (stem.find("norm") != std::string::npos) return "norms";
  if (stem.ends_with("_shexp")) return "shared experts";
  if (layer != nullptr && layer->recurrent && stem.starts_with("attn_")) return "linear attention";
  const auto* found = std::find_if(beginnings.begin(), beginnings.end(), [&](const Beginning& one) {
    return stem.starts_with(one.text);
  });
  return found == beginnings.end() ? nullptr : found->name;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::any_of(all.begin(), all.end(),
                     [&](std::string_view one) { return text.starts_with(one); });
}

/// One tensor with what of its name decides.
struct Part {
  const Tensor& tensor;
  std::string stem;
  int block = -1;
  std::uint64_t bytes = 0;
};

std::uint64_t rows_of(const Tensor& tensor) {
  const std::uint64_t columns = tensor.dimensions.empty() ? 0 : tensor.dimensions.front();
  return columns == 0 ? 0 : tensor.elements / columns;
}

std::uint64_t row_bytes(const Part& part) {
  const std::uint64_t rows = rows_of(part.tensor);
  return rows == 0 ? 0 : part.bytes / rows;
}

class Reading {
 public:
  /// `predicting`: of the blocks for multi-token prediction, not of the trunk.
  Reading(const Gguf& head, bool predicting, std::optional<Side> side)
      : head_(head), architecture_(head.architecture()), predicting_(predicting), side_(side) {}

  util::Result<ReadFacts> read(const std::vector<const Tensor*>& tensors) {
    PACELINE_TRY_ASSIGN(layers_, layers_of(head_));
    trunk_ = static_cast<int>(head_.trunk_layers().value_or(0));
    if (is_block_drafter()) facts_.block_anchors = anchors(tensors);
    for (const Tensor* tensor : tensors) PACELINE_TRY(add(*tensor));
    PACELINE_TRY(add_experts());
    PACELINE_TRY(add_words());
    add_caches();
    PACELINE_TRY(add_states());
    for (const char* name : class_order)
      if (const auto sum = sums_.find(name); sum != sums_.end())
        facts_.weights.push_back(std::move(sum->second));
    return std::move(facts_);
  }

 private:
  bool is_drafter() const { return is_drafter_architecture(architecture_); }
  bool is_block_drafter() const { return architecture_ == "dflash"; }

  /// The last token of the text, unless the block begins at it: then it drafts too.
  int anchors(const std::vector<const Tensor*>& tensors) const {
    const bool markov = std::any_of(tensors.begin(), tensors.end(), [](const Tensor* tensor) {
      return tensor->name == "markov_w1.weight";
    });
    return markov && head_.flag("dflash.sample_from_anchor").value_or(true) ? 0 : 1;
  }

  tl::unexpected<util::Error> unknown(const std::string& why) const {
    return util::fail(util::ErrorKind::usage, why);
  }

  util::Result<void> sum_up(const char* name, const WeightsRead& more) {
    WeightsRead& sum = sums_[name];
    sum.name = name;
    if (__builtin_add_overflow(sum.bytes, more.bytes, &sum.bytes) ||
        __builtin_add_overflow(sum.elements, more.elements, &sum.elements))
      return unknown("its tensors are larger than any file");
    return {};
  }

  std::int64_t output_layer() const { return static_cast<std::int64_t>(layers_.size()); }

  bool is_here(std::int64_t layer) const {
    if (!side_) return true;
    const std::int64_t first = std::max<std::int64_t>(output_layer() + 1 - side_->gpu_layers, 0);
    return (layer >= first) == side_->on_device;
  }

  /// Where it counts as one of, the output being behind the last; -1: it stays on the CPU.
  std::int64_t layer_of(const Part& part) const {
    if (part.block >= 0) return part.block;
    if (part.stem == "token_embd" || part.stem == "per_layer_token_embd") return -1;
    if (part.stem == "rope_freqs" && architecture_ == "gemma4")
      return std::find_if(layers_.begin(), layers_.end(),
                          [](const Layer& layer) { return layer.window == 0; }) -
             layers_.begin();
    if (starts_with_any(part.stem, {"rope_freqs", "per_layer_", "nextn.pre_"})) return 0;
    return output_layer();
  }

  static WeightsRead whole(const Part& part) {
    return {part.stem, part.bytes, part.tensor.elements};
  }

  util::Result<void> add(const Tensor& tensor) {
    const TensorPlace place = place_of(tensor.name);
    if (!tensor.bytes)
      return unknown(
          fmt::format("the size of the type of '{}' is not known", util::printable(tensor.name)));
    const Part part{tensor, stem_of(place.tensor_class), place.block, *tensor.bytes};
    if (part.block >= static_cast<int>(layers_.size()))
      return unknown(
          fmt::format("'{}' is in a block that it does not have", util::printable(tensor.name)));
    const bool of_prediction = part.block >= trunk_ && !is_drafter();
    if (part.block >= 0 && of_prediction != predicting_) return {};
    if (takes_word_part(part) || !is_here(layer_of(part))) return {};
    if (part.block < 0) return add_outside(part);
    return add_in_layer(part, layers_[static_cast<std::size_t>(part.block)]);
  }

  /// Embeddings and heads, which are counted once all are known, wherever they are.
  bool takes_word_part(const Part& part) {
    const bool outside = part.block < 0;
    if (part.stem == "nextn.shared_head_norm") has_head_norm_ = true;
    if (part.stem == (outside ? "token_embd" : "nextn.embed_tokens"))
      embedding_.emplace(part);
    else if (part.stem == (outside ? "output" : "nextn.shared_head_head"))
      (outside ? output_ : own_head_).emplace(part);
    else
      return false;
    return true;
  }

  util::Result<void> add_outside(const Part& part) {
    if (predicting_) {
      // The norm before the head is the trunk's where the block has none of its own.
      if (part.stem == "output_norm") trunk_norm_ = whole(part);
      return {};
    }
    if (part.stem == "per_layer_token_embd") return add_table(part);
    if (add_selector(part)) return {};
    if (is_drafter() && starts_with_any(part.stem, {"fc", "enc."})) {
      take_in(part);
      return {};
    }
    return add_weights(part, class_of(part.stem));
  }

  util::Result<void> add_in_layer(const Part& part, const Layer& layer) {
    if (part.stem.ends_with("_exps")) return add_expert_tensor(part);
    const bool stores = starts_with_any(part.stem, {"attn_k", "attn_v"});
    if (stores && layer.cells_of) return {};
    if (part.stem.starts_with("indexer.") && !layer.has_indexer) return {};
    if (stores && is_block_drafter()) take_in(part);
    return add_weights(part, class_of(part.stem, &layer));
  }

  util::Result<void> add_weights(const Part& part, const char* name) {
    if (name == nullptr)
      return unknown(
          fmt::format("nothing is known of how '{}' is read", util::printable(part.tensor.name)));
    return sum_up(name, whole(part));
  }

  void take_in(const Part& part) {
    WeightsRead taken = whole(part);
    taken.name = class_of(part.stem);
    facts_.taking_in.push_back(std::move(taken));
  }

  void add_rows(const std::string& name, const Part& part, std::int64_t rows, int spared = 0) {
    if (rows_of(part.tensor) == 0 || rows < 1 || rows > std::numeric_limits<int>::max()) return;
    const std::uint64_t columns = part.tensor.dimensions.front();
    facts_.rows.push_back(
        {name, static_cast<std::uint64_t>(rows), row_bytes(part), columns, part.bytes, spared});
  }

  util::Result<void> add_table(const Part& part) {
    if (architecture_ != "qwen4exp") {
      add_rows("per-layer table", part, 1);
      return {};
    }
    const auto size = head_.own_number("ple.ngram_size").value_or(0);
    const auto heads = head_.own_number("ple.heads_per_ngram").value_or(0);
    if (size < 2 || size > 1024 || heads < 1 || heads > 1024)
      return unknown("the keys of its n-gram table are missing or make no sense");
    add_rows("n-gram table", part, (size - 1) * heads);
    return {};
  }

  /// What block drafters read by the row, or once for each place that they draft.
  bool add_selector(const Part& part) {
    const int anchor = facts_.block_anchors.value_or(0);
    const std::int64_t top = head_.own_number("selector_top_k").value_or(0);
    if (part.stem == "markov_w1")
      add_rows("drafter parts", part, 1, anchor);
    else if (part.stem == "markov_w2" || part.stem == "conf_proj")
      add_rows("drafter parts", part, static_cast<std::int64_t>(rows_of(part.tensor)), anchor);
    else if (part.stem == "selector_successor")
      add_rows("drafter parts", part, top, 1);
    else if (part.stem == "selector_predecessor")
      add_rows("drafter parts", part, top, 2);
    else
      return false;
    return true;
  }

  util::Result<void> add_expert_tensor(const Part& part) {
    expert_layers_[part.block] = true;
    if (__builtin_add_overflow(experts_.bytes, part.bytes, &experts_.bytes) ||
        __builtin_add_overflow(experts_.elements, part.tensor.elements, &experts_.elements))
      return unknown("its tensors are larger than any file");
    return {};
  }

  util::Result<void> add_experts() {
    if (expert_layers_.empty()) return {};
    const auto count = head_.own_number("expert_count").value_or(0);
    const auto used = head_.own_number("expert_used_count").value_or(0);
    if (used < 1 || used > count || count > std::numeric_limits<int>::max())
      return unknown("the numbers of its experts are missing or make no sense");
    experts_.layers = static_cast<int>(expert_layers_.size());
    experts_.count = static_cast<int>(count);
    experts_.used = static_cast<int>(used);
    facts_.experts = experts_;
    return {};
  }

  /// Embedding and head: the head is the embedding where there is no other, and a drafter takes its
  /// target's for what it does not have.
  util::Result<void> add_words() {
    const bool own_embedding = embedding_ && architecture_ != "gemma4-assistant";
    if (own_embedding && is_here(layer_of(*embedding_)))
      add_rows("embedding", *embedding_, 1);
    else if (!own_embedding && is_drafter())
      facts_.borrowed.emplace_back("embedding");
    const std::int64_t head_layer = own_head_ ? layer_of(*own_head_) : output_layer();
    const Part* head = own_head_ ? &*own_head_ : output_ ? &*output_ : nullptr;
    const bool ties = architecture_ != "eagle3";
    if (head == nullptr && embedding_ && ties) head = &*embedding_;
    if (head == nullptr && is_drafter()) facts_.borrowed.emplace_back("head");
    facts_.takes_in_by_pass = !is_block_drafter() && architecture_ != "gemma4-assistant";
    facts_.takes_in_with_head = !predicting_;
    if (predicting_ && !has_head_norm_) PACELINE_TRY(sum_up("norms", trunk_norm_));
    if (head == nullptr || !is_here(head_layer)) return {};
    return sum_up("head", whole(*head));
  }

  bool reads_layer(std::size_t layer) const {
    return is_drafter() || (static_cast<int>(layer) >= trunk_) == predicting_;
  }

  bool has_cells_here(std::size_t layer) const {
    return is_here(layers_[layer].cells_of.value_or(static_cast<int>(layer)));
  }

  void add_cache(std::uint64_t keys, std::uint64_t values, int window) {
    for (CacheRead& one : facts_.caches)
      if (one.key_elements == keys && one.value_elements == values && one.window == window)
        return void(++one.layers);
    facts_.caches.push_back({1, keys, values, window});
  }

  void add_caches() {
    const auto index = head_.own_number("attention.indexer.key_length").value_or(0);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      if (!reads_layer(i) || !has_cells_here(i) || layer.recurrent) continue;
      add_cache(layer.key_elements, layer.value_elements, layer.window);
      if (layer.has_indexer && index > 0) add_cache(static_cast<std::uint64_t>(index), 0, 0);
    }
  }

  util::Result<void> add_states() {
    if (predicting_ || std::none_of(layers_.begin(), layers_.end(),
                                    [](const Layer& layer) { return layer.recurrent; }))
      return {};
    std::uint64_t layers = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (layers_[i].recurrent && is_here(static_cast<int>(i))) ++layers;
    PACELINE_TRY_ASSIGN(const std::uint64_t one, state_bytes(head_));
    PACELINE_TRY_ASSIGN(const std::uint64_t table, table_state());
    if (__builtin_mul_overflow(one, layers, &facts_.recurrent_bytes) ||
        __builtin_add_overflow(facts_.recurrent_bytes, table, &facts_.recurrent_bytes))
      return unknown("its recurrent state makes no sense");
    return {};
  }

  /// What the convolution over the rows of an n-gram table remembers, in F32.
  util::Result<std::uint64_t> table_state() const {
    if (architecture_ != "qwen4exp" || head_.array(architecture_ + ".ple.layers") == nullptr)
      return std::uint64_t{0};
    const auto listed = head_.own_numbers("ple.layers");
    if (!is_here(listed && !listed->empty() ? listed->front() : 0)) return std::uint64_t{0};
    double bytes = 4 * (static_cast<double>(head_.own_number("ple.conv_kernel").value_or(0)) - 1);
    for (const char* factor : {"ple.ngram_size", "hyper_connection.count", "embedding_length"})
      bytes *= static_cast<double>(head_.own_number(factor).value_or(0));
    if (!(bytes >= 0 && bytes < 1e15)) return unknown("the keys of its n-gram table make no sense");
    return static_cast<std::uint64_t>(bytes);
  }

  const Gguf& head_;
  std::string architecture_;
  bool predicting_;
  std::optional<Side> side_;
  std::vector<Layer> layers_;
  int trunk_ = 0;
  std::map<std::string_view, WeightsRead> sums_;  ///< by class
  std::optional<Part> embedding_;
  std::optional<Part> output_;
  std::optional<Part> own_head_;  ///< of a block for prediction
  WeightsRead trunk_norm_;
  bool has_head_norm_ = false;
  std::map<int, bool> expert_layers_;
  ExpertsRead experts_;
  ReadFacts facts_;
};

/// The class of one that is not read whole, or not by its own rule; null of the others.
const char* special_class_of(const std::string& stem, const std::string& architecture) {
  if (stem == "token_embd" || stem == "output" || stem == "nextn.shared_head_head") return "head";
  if (stem == "nextn.embed_tokens") return "embedding";
  if (stem == "per_layer_token_embd")
    return architecture == "qwen4exp" ? "n-gram table" : "per-layer table";
  if (stem.ends_with("_exps")) return "experts";
  return starts_with_any(stem, {"markov_", "conf_proj", "selector_"}) ? "drafter parts" : nullptr;
}

util::Result<void> check_known(const Gguf& head) {
  const std::string architecture = head.architecture();
  const bool known = std::find(known_architectures.begin(), known_architectures.end(),
                               architecture) != known_architectures.end();
  if (!known)
    return util::misused("nothing is known of what a pass of architecture '{}' reads",
                         util::printable(architecture));
  if (architecture == "dflash" && head.own_number("hyper_connection.count").value_or(0) > 0)
    return util::misused("nothing is known of what a drafter with hyper-connections reads");
  return {};
}

}  // namespace

util::Result<ReadFacts> reads_of(const Gguf& head, const std::vector<const Tensor*>& tensors,
                                 std::optional<Side> side) {
  PACELINE_TRY(check_known(head));
  return Reading(head, false, side).read(tensors);
}

util::Result<ReadFacts> prediction_reads_of(const Gguf& head,
                                            const std::vector<const Tensor*>& tensors,
                                            std::optional<Side> side) {
  PACELINE_TRY(check_known(head));
  return Reading(head, true, side).read(tensors);
}

std::map<std::string, std::string> classes_of(const Gguf& head,
                                              const std::vector<const Tensor*>& tensors) {
  std::map<std::string, std::string> classes;
  const auto layers = layers_of(head);
  if (!layers) return classes;
  for (const Tensor* tensor : tensors) {
    const TensorPlace place = place_of(tensor->name);
    const std::string stem = stem_of(place.tensor_class);
    const bool in_layer = place.block >= 0 && place.block < static_cast<int>(layers->size());
    const Layer* layer = in_layer ? &(*layers)[static_cast<std::size_t>(place.block)] : nullptr;
    const char* name = special_class_of(stem, head.architecture());
    if (name == nullptr) name = class_of(stem, layer);
    classes[tensor->name] = name == nullptr ? "other" : name;
  }
  return classes;
}

}  // namespace paceline::model
