#include "synth/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace paceline::synth {

namespace {

constexpr std::int64_t widest_block = 256;
constexpr std::int64_t least_vocabulary = 512;

std::int64_t scaled(std::int64_t number, double factor, std::int64_t step) {
  const double steps = static_cast<double>(number) * factor / static_cast<double>(step);
  return std::max<std::int64_t>(1, std::llround(steps)) * step;
}

/// The largest divisor of `whole` that is not above `wanted`.
std::int64_t divisor(std::int64_t whole, std::int64_t wanted) {
  std::int64_t found = std::clamp<std::int64_t>(wanted, 1, whole);
  while (whole % found != 0) --found;
  return found;
}

constexpr std::array<KnownModel, 5> models = {{
    {"muse-glimmer-30b",
     "muse-glimmer",
     {.layers = 52,
      .embd = 6656,
      .heads = 32,
      .kv_heads = 2,
      .head_dim = 128,
      .ff = 19968,
      .vocab = 202048,
      .context = 131072,
      .window = 2048},
     ""},
    {"gemma-4-31b",
     "gemma4",
     {.layers = 60,
      .embd = 5376,
      .heads = 32,
      .kv_heads = 16,
      .head_dim = 512,
      .ff = 21504,
      .vocab = 262144,
      .context = 262144,
      .tied = 1,
      .interval = 6,
      .window = 1024,
      .local_head_dim = 256,
      .full_kv_heads = 4},
     ""},
    {"qwen3.8-27b",
     "qwen35",
     {.layers = 64,
      .embd = 5120,
      .heads = 24,
      .kv_heads = 4,
      .head_dim = 256,
      .ff = 17408,
      .vocab = 248320,
      .context = 262144,
      .mtp = 1,
      .rope_dims = 64,
      .state = 128,
      .key_groups = 16,
      .value_heads = 48},
     "all of it, from Qwen3.5-27B and Qwen3.6-27B, which are public"},
    {"qwen3.8-flash-next",
     "qwen4exp",
     {.layers = 48,
      .embd = 2560,
      .heads = 16,
      .kv_heads = 2,
      .head_dim = 256,
      .ff = 2560,
      .vocab = 248320,
      .context = 262144,
      .rope_dims = 64,
      .state = 128,
      .key_groups = 16,
      .value_heads = 32,
      .experts = 512,
      .experts_used = 8,
      .expert_ff = 640,
      .shared_ff = 640,
      .streams = 4,
      .stream_rank = 320,
      .index_heads = 4,
      .index_dim = 128,
      .index_top = 2048,
      .ngram_heads = 8,
      .ngram_rows = 19922944},
     "heads and heads of linear attention, experts and their widths, rows of the n-gram tables: "
     "chosen to give the 125 B, 6 B active and 51 B of the tables that are public, the active ones "
     "counted as on Qwen's cards, with embedding and head"},
    {"smol-135m",
     "llama",
     {.layers = 30,
      .embd = 576,
      .heads = 9,
      .kv_heads = 3,
      .head_dim = 64,
      .ff = 1536,
      .vocab = 49152,
      .context = 8192,
      .tied = 1},
     ""},
}};

}  // namespace

const std::array<KnownModel, 5>& known_models() { return models; }

std::vector<std::string> known_model_names() {
  std::vector<std::string> names;
  for (const KnownModel& model : known_models()) names.emplace_back(model.name);
  return names;
}

const KnownModel* find_known_model(std::string_view name) {
  const auto& models = known_models();
  const auto* found = std::find_if(models.begin(), models.end(),
                                   [&](const KnownModel& model) { return model.name == name; });
  return found == models.end() ? nullptr : found;
}

util::Result<Shape> with_numbers(Shape shape, const std::map<std::string, std::int64_t>& asked) {
  for (const auto& [name, number] : asked) {
    const auto* field = std::find_if(
        shape_fields.begin(), shape_fields.end(),
        [&wanted = name](const ShapeField& candidate) { return candidate.name == wanted; });
    if (field == shape_fields.end())
      return util::fail(util::ErrorKind::usage, fmt::format("a shape has no number --{}", name));
    if (number < field->least || number > field->most)
      return util::fail(util::ErrorKind::usage, fmt::format("--{} {}: takes {} to {}", name, number,
                                                            field->least, field->most));
    shape.*field->value = number;
  }
  return shape;
}

Shape resized(const Shape& shape, double factor) {
  Shape made = shape;
  made.layers = scaled(shape.layers, factor, shape.interval);
  made.embd = scaled(shape.embd, factor, widest_block);
  made.kv_heads = scaled(shape.kv_heads, factor, 1);
  made.heads = scaled(shape.heads, factor, made.kv_heads);
  made.full_kv_heads = divisor(made.heads, scaled(shape.full_kv_heads, factor, 1));
  made.ff = scaled(shape.ff, factor, widest_block);
  made.expert_ff = scaled(shape.expert_ff, factor, widest_block);
  made.shared_ff = scaled(shape.shared_ff, factor, widest_block);
  made.key_groups = scaled(shape.key_groups, factor, 1);
  made.value_heads = made.key_groups * (shape.value_heads / shape.key_groups);
  made.stream_rank = scaled(shape.stream_rank, factor, 32);
  made.ngram_heads = divisor(made.embd / 2, scaled(shape.ngram_heads, factor, 1));
  made.vocab = std::max(least_vocabulary, scaled(shape.vocab, factor * factor, 1));
  made.ngram_rows = scaled(shape.ngram_rows, factor * factor, 1);
  return made;
}

}  // namespace paceline::synth
