#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"

namespace paceline::synth {

/// The numbers that a model's tensors are sized by. An architecture reads those that it has.
struct Shape {
  std::int64_t layers = 4;
  std::int64_t embd = 256;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 2;
  std::int64_t head_dim = 64;
  std::int64_t ff = 512;
  std::int64_t vocab = 2048;
  std::int64_t context = 4096;
  std::int64_t tied = 0;
  std::int64_t interval = 4;
  std::int64_t window = 128;
  std::int64_t local_head_dim = 32;
  std::int64_t full_kv_heads = 2;
  std::int64_t mtp = 0;
  std::int64_t rope_dims = 0;
  std::int64_t state = 32;
  std::int64_t key_groups = 2;
  std::int64_t value_heads = 8;
  std::int64_t experts = 8;
  std::int64_t experts_used = 2;
  std::int64_t expert_ff = 256;
  std::int64_t shared_ff = 256;
  std::int64_t streams = 4;
  std::int64_t stream_rank = 32;
  std::int64_t index_heads = 2;
  std::int64_t index_dim = 64;
  std::int64_t index_top = 64;
  std::int64_t ngram_heads = 2;
  std::int64_t ngram_rows = 1009;
  std::int64_t block = 8;
  std::int64_t rank = 128;
  std::int64_t top_k = 4;
};

/// One number of a shape: its option without dashes, its range, and what it is.
struct ShapeField {
  const char* name;
  std::int64_t Shape::*value;
  std::int64_t least;
  std::int64_t most;
  const char* about;
};

inline constexpr std::array shape_fields = {
    ShapeField{"layers", &Shape::layers, 1, 512, "Layers, without MTP blocks"},
    ShapeField{"embd", &Shape::embd, 32, 1 << 16, "Width of the residual stream"},
    ShapeField{"heads", &Shape::heads, 1, 512, "Attention heads"},
    ShapeField{"kv-heads", &Shape::kv_heads, 1, 512, "Heads of keys and values"},
    ShapeField{"head-dim", &Shape::head_dim, 8, 1024, "Width of a head"},
    ShapeField{"ff", &Shape::ff, 32, 1 << 20, "Width of a feed-forward"},
    ShapeField{"vocab", &Shape::vocab, 512, 1 << 20, "Tokens of the vocabulary"},
    ShapeField{"context", &Shape::context, 64, 1 << 20, "Context in training, as the file says"},
    ShapeField{"tied", &Shape::tied, 0, 1, "1: the embedding is the head too"},
    ShapeField{"interval", &Shape::interval, 2, 64, "Every so-manieth layer attends to everything"},
    ShapeField{"window", &Shape::window, 16, 1 << 20, "Sliding window of the other layers"},
    ShapeField{"local-head-dim", &Shape::local_head_dim, 8, 1024,
               "gemma4: width of a head in layers with a window"},
    ShapeField{"full-kv-heads", &Shape::full_kv_heads, 1, 512,
               "gemma4: heads of keys and values in layers without"},
    ShapeField{"mtp", &Shape::mtp, 0, 1, "qwen35: multi-token-prediction blocks"},
    ShapeField{"rope-dims", &Shape::rope_dims, 0, 1024, "Rotated part of a head; 0: all of it"},
    ShapeField{"state", &Shape::state, 8, 1024, "Linear attention: width of a head"},
    ShapeField{"key-groups", &Shape::key_groups, 1, 512, "Linear attention: heads of keys"},
    ShapeField{"value-heads", &Shape::value_heads, 1, 512, "Linear attention: heads of values"},
    ShapeField{"experts", &Shape::experts, 2, 4096, "qwen4exp: experts of a layer"},
    ShapeField{"experts-used", &Shape::experts_used, 1, 64, "qwen4exp: experts for one token"},
    ShapeField{"expert-ff", &Shape::expert_ff, 32, 1 << 16, "qwen4exp: width of an expert"},
    ShapeField{"shared-ff", &Shape::shared_ff, 32, 1 << 16, "qwen4exp: width of the shared expert"},
    ShapeField{"streams", &Shape::streams, 2, 16, "qwen4exp: residual streams"},
    ShapeField{"stream-rank", &Shape::stream_rank, 1, 4096, "qwen4exp: rank of their mixing"},
    ShapeField{"index-heads", &Shape::index_heads, 1, 64, "qwen4exp: heads of the indexer"},
    ShapeField{"index-dim", &Shape::index_dim, 8, 1024, "qwen4exp: width of such a head"},
    ShapeField{"index-top", &Shape::index_top, 1, 1 << 16, "qwen4exp: cells that it picks"},
    ShapeField{"ngram-heads", &Shape::ngram_heads, 1, 32, "qwen4exp: rows read for each n-gram"},
    ShapeField{"ngram-rows", &Shape::ngram_rows, 16, 1 << 27, "qwen4exp: rows of one such table"},
    ShapeField{"block", &Shape::block, 2, 512, "Block of a block drafter"},
    ShapeField{"rank", &Shape::rank, 1, 4096,
               "dflash2, dspark: rank of the selector, the Markov head"},
    ShapeField{"top-k", &Shape::top_k, 1, 64, "dflash2: candidates at each place"},
};
static_assert(shape_fields.size() * sizeof(std::int64_t) == sizeof(Shape),
              "a number of Shape is missing in shape_fields");

/// A model whose shape is known, as far as it is.
struct KnownModel {
  const char* name;
  const char* architecture;
  Shape shape;
  const char* assumed;  ///< what of it is no public fact; empty: nothing
};

/// Those that `--like` takes.
const std::array<KnownModel, 5>& known_models();

/// Their names.
std::vector<std::string> known_model_names();

/// The known model of that name; null when there is none.
const KnownModel* find_known_model(std::string_view name);

/// The shape with what was asked for in the place of its own numbers, or what cannot be.
util::Result<Shape> with_numbers(Shape shape, const std::map<std::string, std::int64_t>& asked);

/// A smaller or larger shape: layers, widths, heads and experts' widths times `factor`, vocabulary
/// and n-gram tables times its square. Head sizes and numbers of experts stay; widths are multiples
/// of 256, the largest block of a quantisation, and layers of the interval.
Shape resized(const Shape& shape, double factor);

}  // namespace paceline::synth
