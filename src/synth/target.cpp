#include "synth/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/drafter.hpp"
#include "synth/walk.hpp"
#include "util/misused.hpp"

namespace paceline::synth {

namespace {

bool reads_layers(std::string_view kind) {
  return kind == "dflash" || kind == "dflash2" || kind == "dspark" || kind == "eagle3";
}

/// Heads of keys and values of the layer so many from the end; one number may stand for all.
std::int64_t kv_heads(const model::Gguf& file, std::size_t from_end) {
  if (const auto all = file.own_numbers("attention.head_count_kv"); all && all->size() >= from_end)
    return (*all)[all->size() - from_end];
  return file.own_number("attention.head_count_kv").value_or(0);
}

}  // namespace

util::Result<Target> read_target(const std::string& path) {
  PACELINE_TRY_ASSIGN(const model::Gguf file, model::Gguf::open(path));
  Target target;
  target.path = path;
  target.architecture = file.architecture();
  target.layers = file.trunk_layers().value_or(0);
  target.embd = file.own_number("embedding_length").value_or(0);
  target.vocab = file.vocabulary().value_or(0);
  target.kv_heads = kv_heads(file, 1);
  target.local_kv_heads = kv_heads(file, 2);
  target.head_dim = file.own_number("attention.key_length").value_or(0);
  target.local_head_dim = file.own_number("attention.key_length_swa").value_or(0);
  target.window = file.own_number("attention.sliding_window").value_or(0);
  target.context = file.own_number("context_length").value_or(0);
  target.has_sections = file.array(file.architecture() + ".rope.dimension_sections") != nullptr;
  target.has_mask_token = file.number("tokenizer.ggml.mask_token_id").has_value();
  if (const auto walk = file.number("paceline.synthetic.walk"))
    target.walk = static_cast<std::uint64_t>(*walk);
  if (target.layers < 1 || target.embd < 1 || target.vocab <= first_word + 1)
    return util::misused(
        "'{}' does not say its layers, width and vocabulary: no drafter can be fitted", path);
  return target;
}

Shape drafter_shape(std::string_view kind, const Target& target) {
  Shape shape;
  shape.layers = kind == "eagle3" ? 1 : 2;
  shape.vocab = target.vocab;
  shape.context = std::max<std::int64_t>(target.context, 64);
  if (reads_layers(kind)) {
    shape.embd = target.embd;
    shape.ff = 2 * target.embd;
    shape.heads = std::max<std::int64_t>(2, target.embd / shape.head_dim);
    shape.kv_heads = shape.heads % 2 == 0 ? shape.heads / 2 : shape.heads;
  }
  if (kind == "gemma4-assistant") {
    shape.embd = std::max<std::int64_t>(128, target.embd / 4 / 32 * 32);
    shape.head_dim = target.head_dim;
    shape.local_head_dim = target.local_head_dim;
    shape.window = std::max<std::int64_t>(target.window, 16);
    // Its queries read the target's keys, some heads of queries for each.
    const std::int64_t most = std::max(target.kv_heads, target.local_kv_heads);
    shape.heads = 2 * std::max<std::int64_t>(most, 1);
    shape.kv_heads = std::max<std::int64_t>(most, 1);
  }
  return shape;
}

util::Result<void> check_fits(std::string_view kind, const Shape& shape, const Target& target) {
  const bool reads = reads_layers(kind);
  if (reads && !model::hands_out_layers(target.architecture))
    return util::misused(
        "llama.cpp v0.5.0 cannot read the layers of architecture '{}' for {}: take "
        "draft-simple",
        target.architecture, kind);
  if (reads && target.layers < 2)
    return util::misused("'{}' has one layer, and {} reads those after it", target.path, kind);
  if (reads && kind != "eagle3" && shape.embd != target.embd)
    return util::misused("a {} drafter is as wide as its target ({}): leave --embd out", kind,
                         target.embd);
  if (shape.vocab != target.vocab)
    return util::misused("a drafter has its target's vocabulary ({}): leave --vocab out",
                         target.vocab);
  if (kind != "gemma4-assistant") return {};
  if (target.architecture != "gemma4")
    return util::misused("gemma4-assistant drafts for gemma4, and '{}' is of architecture '{}'",
                         target.path, target.architecture);
  if (shape.embd == target.embd)
    return util::misused("gemma4-assistant has to be of another width than its target ({})",
                         target.embd);
  return {};
}

}  // namespace paceline::synth
