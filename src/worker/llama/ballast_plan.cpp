#include "worker/llama/ballast_plan.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

const char* const recurrent_key = "attention.recurrent_layers";
constexpr std::int64_t default_interval = 4;  // llama.cpp's own
constexpr std::int64_t most_blocks = 512;     // llama.cpp's own
constexpr std::uint64_t alignment = 32;

/// Lists with a number for each layer, of which an added layer takes its model's.
constexpr std::array layer_keys = {"attention.sliding_window_pattern", "attention.head_count",
                                   "attention.head_count_kv", "feed_forward_length",
                                   "attention.compress_ratios"};

/// An architecture whose layers add to one residual stream, or to several, and do nothing else.
struct Additive {
  const char* architecture;
  int kept_last = 0;  ///< layers that have to stay the last ones
  bool has_recurrent = false;
};

// A gemma 4 assistant reads the keys of its target's last two layers.
constexpr std::array additive = {Additive{"llama"},           Additive{"qwen3"},
                                 Additive{"muse-glimmer"},    Additive{"gemma4", 2},
                                 Additive{"qwen35", 0, true}, Additive{"qwen4exp", 0, true}};

const Additive* find_additive(const std::string& architecture) {
  const auto* found = std::find_if(additive.begin(), additive.end(), [&](const Additive& one) {
    return one.architecture == architecture;
  });
  return found == additive.end() ? nullptr : found;
}

/// 1 for each recurrent block, 0 for others; prediction blocks are none.
std::vector<std::uint32_t> recurrent_layers(const model::Gguf& file) {
  const auto blocks = static_cast<std::size_t>(file.own_number("block_count").value_or(0));
  std::vector<std::uint32_t> layers;
  if (const auto said = file.own_numbers(recurrent_key); said && said->size() == blocks) {
    layers.assign(said->begin(), said->end());
    return layers;
  }
  const auto trunk = static_cast<std::size_t>(file.trunk_layers().value_or(0));
  const auto interval = static_cast<std::size_t>(std::max<std::int64_t>(
      1, file.own_number("full_attention_interval").value_or(default_interval)));
  for (std::size_t i = 0; i < blocks; ++i)
    layers.push_back(i < trunk && (i + 1) % interval != 0 ? 1 : 0);
  return layers;
}

util::Result<void> check_types(const protocol::Synth& job,
                               const std::vector<SourceTensor>& tensors) {
  if (job.feed_forward == 0) return {};
  for (const SourceTensor& tensor : tensors)
    if (tensor.type != GGML_TYPE_F16 && tensor.type != GGML_TYPE_F32)
      return refuse("'{}' is quantised ({} is {}): start from the F16 or F32 file.",
                    job.source_path, tensor.name, ggml_type_name(tensor.type));
  return {};
}

/// Whether feed-forwards can be made as wide as the job asks.
util::Result<void> check_wider(const protocol::Synth& job, const model::Gguf& file) {
  if (job.feed_forward == 0) return {};
  const auto feed_forward = file.own_number("feed_forward_length");
  if (file.architecture() != "qwen35" || !feed_forward)
    return refuse(
        "'{}' is not a laboratory target (architecture qwen35 with one feed_forward_length): only "
        "those can be made wider; of others layers can be added (paceline synth --ballast SIZE).",
        file.path());
  if (job.feed_forward < *feed_forward)
    return refuse("'{}' has a feed-forward of {}: {} would be lighter, not heavier.", file.path(),
                  *feed_forward, job.feed_forward);
  return {};
}

/// Whether a heavier copy of such a model says the same.
util::Result<const Additive*> check_architecture(const model::Gguf& file) {
  const Additive* found = find_additive(file.architecture());
  if (found == nullptr)
    return refuse(
        "'{}' is of architecture '{}', whose layers are not known to be of no effect when they "
        "are zero: no ballast for it.",
        file.path(), file.architecture());
  if (file.number("split.count").value_or(1) > 1)
    return refuse("'{}' is one of several files: merge them first.", file.path());
  if (file.own_number("attention.shared_kv_layers").value_or(0) != 0 ||
      (file.architecture() == "gemma4" &&
       file.own_number("embedding_length_per_layer_input").value_or(0) != 0))
    return refuse("'{}' shares keys between layers or has embeddings for each: no ballast for it.",
                  file.path());
  if (file.trunk_layers().value_or(0) <= found->kept_last)
    return refuse("'{}' does not say how many layers it has, or has too few.", file.path());
  return found;
}

/// The layer whose shapes added ones take: the last that attends; -1 when there is none.
int ballast_template(const model::Gguf& file, const Additive& kind, int trunk) {
  if (!kind.has_recurrent) return trunk - 1 - kind.kept_last;
  const std::vector<std::uint32_t> recurrent = recurrent_layers(file);
  for (int layer = trunk - 1; layer >= 0; --layer)
    if (recurrent[static_cast<std::size_t>(layer)] == 0) return layer;
  return -1;
}

/// Bytes that one added layer takes in the file.
std::uint64_t layer_bytes(const std::vector<SourceTensor>& tensors, const Ballast& ballast) {
  Ballast one = ballast;
  one.extra_layers = 1;
  std::uint64_t sum = 0;
  for (const HeavyTensor& tensor : plan_heavier(tensors, one))
    if (tensor.source < 0)
      sum += GGML_PAD(ggml_row_size(tensor.type, tensor.shape.columns) *
                          static_cast<std::uint64_t>(tensor.shape.rows),
                      alignment);
  return sum;
}

util::Result<int> layers_for_size(const protocol::Synth& job, const model::Gguf& file,
                                  std::uint64_t each) {
  const std::uint64_t size = file.file_bytes();
  if (job.ballast_bytes < size + each / 2)
    return refuse("'{}' has {} bytes and one more layer takes {}: ask for a larger size.",
                  file.path(), size, each);
  const std::uint64_t layers = (job.ballast_bytes - size + each / 2) / each;
  const std::int64_t room = most_blocks - *file.own_number("block_count");
  if (std::cmp_greater(layers, room))
    return refuse(
        "{} layers of {} bytes would have to be added to '{}', and llama.cpp has room for "
        "{}: start from a wider model.",
        layers, each, file.path(), room);
  return static_cast<int>(layers);
}

/// The list with the model layer's element so many times more, where the added layers stand.
void lengthen(const std::string& key, const Ballast& ballast, gguf_context* gguf) {
  const std::int64_t id = gguf_find_key(gguf, key.c_str());
  if (id < 0 || gguf_get_kv_type(gguf, id) != GGUF_TYPE_ARRAY) return;
  const gguf_type type = gguf_get_arr_type(gguf, id);
  const bool bytes = type == GGUF_TYPE_BOOL || type == GGUF_TYPE_UINT8 || type == GGUF_TYPE_INT8;
  if (!bytes && type != GGUF_TYPE_UINT32 && type != GGUF_TYPE_INT32) return;
  const std::size_t size = bytes ? 1 : sizeof(std::uint32_t);
  const std::size_t count = gguf_get_arr_n(gguf, id);
  const auto at = static_cast<std::size_t>(ballast.trunk_layers);
  const auto from = static_cast<std::size_t>(ballast.template_layer);
  if (count < at || count <= from) return;
  const auto* old = static_cast<const char*>(gguf_get_arr_data(gguf, id));
  std::string made(old, at * size);
  for (int i = 0; i < ballast.extra_layers; ++i) made.append(old + from * size, size);
  made.append(old + at * size, (count - at) * size);
  gguf_set_arr_data(gguf, key.c_str(), type, made.data(), made.size() / size);
}

}  // namespace

util::Result<Ballast> plan_ballast(const protocol::Synth& job, const model::Gguf& file,
                                   const std::vector<SourceTensor>& tensors) {
  PACELINE_TRY(check_wider(job, file));
  PACELINE_TRY_ASSIGN(const Additive* const kind, check_architecture(file));
  PACELINE_TRY(check_types(job, tensors));
  const auto trunk = static_cast<int>(*file.trunk_layers());
  Ballast ballast{.trunk_layers = trunk - kind->kept_last,
                  .template_layer = ballast_template(file, *kind, trunk),
                  .extra_layers = job.extra_layers,
                  .feed_forward = job.feed_forward};
  if (ballast.template_layer < 0)
    return refuse("'{}' has no attention layer whose shape the added layers could take.",
                  file.path());
  if (job.ballast_bytes == 0) return ballast;
  PACELINE_TRY_ASSIGN(ballast.extra_layers,
                      layers_for_size(job, file, layer_bytes(tensors, ballast)));
  return ballast;
}

void set_heavier_keys(const model::Gguf& file, const Ballast& ballast, gguf_context* gguf) {
  const std::string prefix = file.architecture() + ".";
  const auto blocks = static_cast<std::uint32_t>(*file.own_number("block_count"));
  gguf_set_val_u32(gguf, (prefix + "block_count").c_str(),
                   blocks + static_cast<std::uint32_t>(ballast.extra_layers));
  for (const char* key : layer_keys) lengthen(prefix + key, ballast, gguf);
  if (ballast.feed_forward != 0)
    gguf_set_val_u32(gguf, (prefix + "feed_forward_length").c_str(),
                     static_cast<std::uint32_t>(ballast.feed_forward));
  if (!find_additive(file.architecture())->has_recurrent) return;
  std::vector<std::uint32_t> layers = recurrent_layers(file);
  layers.insert(layers.begin() + ballast.trunk_layers,
                static_cast<std::size_t>(ballast.extra_layers), 0u);
  gguf_set_arr_data(gguf, (prefix + recurrent_key).c_str(), GGUF_TYPE_UINT32, layers.data(),
                    layers.size());
}

}  // namespace paceline::worker
