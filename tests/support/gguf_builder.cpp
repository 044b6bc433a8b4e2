#include "support/gguf_builder.hpp"

#include <bit>

namespace paceline::support {

namespace {

constexpr std::uint32_t type_u32 = 4;
constexpr std::uint32_t type_f32 = 6;
constexpr std::uint32_t type_bool = 7;
constexpr std::uint32_t type_string = 8;
constexpr std::uint32_t type_array = 9;

void pad(std::string& bytes, std::size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

}  // namespace

std::string gguf_string(std::string_view text) {
  return little_endian<std::uint64_t>(text.size()).append(text);
}

GgufBuilder::GgufBuilder(std::string architecture) {
  if (!architecture.empty()) text("general.architecture", architecture);
}

GgufBuilder& GgufBuilder::key(std::string_view name, std::uint32_t type, std::string_view value) {
  key_bytes_ += gguf_string(name) + little_endian(type);
  key_bytes_ += value;
  ++keys_;
  return *this;
}

GgufBuilder& GgufBuilder::u32(std::string_view name, std::uint32_t value) {
  return key(name, type_u32, little_endian(value));
}

GgufBuilder& GgufBuilder::f32(std::string_view name, float value) {
  return key(name, type_f32, little_endian(std::bit_cast<std::uint32_t>(value)));
}

GgufBuilder& GgufBuilder::flag(std::string_view name, bool value) {
  return key(name, type_bool, std::string(1, value ? '\1' : '\0'));
}

GgufBuilder& GgufBuilder::text(std::string_view name, std::string_view value) {
  return key(name, type_string, gguf_string(value));
}

GgufBuilder& GgufBuilder::u32s(std::string_view name, const std::vector<std::uint32_t>& values) {
  std::string bytes = little_endian(type_u32) + little_endian<std::uint64_t>(values.size());
  for (const std::uint32_t value : values) bytes += little_endian(value);
  return key(name, type_array, bytes);
}

GgufBuilder& GgufBuilder::f32s(std::string_view name, const std::vector<float>& values) {
  std::string bytes = little_endian(type_f32) + little_endian<std::uint64_t>(values.size());
  for (const float value : values) bytes += little_endian(std::bit_cast<std::uint32_t>(value));
  return key(name, type_array, bytes);
}

GgufBuilder& GgufBuilder::texts(std::string_view name, std::size_t count) {
  std::string bytes = little_endian(type_string) + little_endian<std::uint64_t>(count);
  for (std::size_t i = 0; i < count; ++i) bytes += gguf_string("t");
  return key(name, type_array, bytes);
}

GgufBuilder& GgufBuilder::tensor(std::string_view name,
                                 const std::vector<std::uint64_t>& dimensions, std::uint32_t type,
                                 std::uint64_t bytes) {
  pad(data_, alignment_);
  tensor_at(name, dimensions, type, data_.size());
  data_.append(bytes, '\0');
  return *this;
}

GgufBuilder& GgufBuilder::tensor_at(std::string_view name,
                                    const std::vector<std::uint64_t>& dimensions,
                                    std::uint32_t type, std::uint64_t offset) {
  tensor_bytes_ += gguf_string(name);
  tensor_bytes_ += little_endian(static_cast<std::uint32_t>(dimensions.size()));
  for (const std::uint64_t dimension : dimensions) tensor_bytes_ += little_endian(dimension);
  tensor_bytes_ += little_endian(type);
  tensor_bytes_ += little_endian(offset);
  ++tensors_;
  return *this;
}

GgufBuilder& GgufBuilder::version(std::uint32_t version) {
  version_ = version;
  return *this;
}

GgufBuilder& GgufBuilder::counts(std::int64_t tensors, std::int64_t keys) {
  counted_ = false;
  said_tensors_ = tensors;
  said_keys_ = keys;
  return *this;
}

GgufBuilder& GgufBuilder::alignment(std::size_t alignment) {
  alignment_ = alignment;
  return u32("general.alignment", static_cast<std::uint32_t>(alignment));
}

std::string GgufBuilder::head() const {
  std::string bytes = "GGUF" + little_endian(version_);
  bytes += little_endian(counted_ ? tensors_ : said_tensors_);
  bytes += little_endian(counted_ ? keys_ : said_keys_);
  return bytes + key_bytes_ + tensor_bytes_;
}

std::string GgufBuilder::bytes() const {
  std::string all = head();
  pad(all, alignment_);
  all += data_;
  pad(all, alignment_);
  return all;
}

GgufBuilder small_projector(std::uint32_t target_width) {
  constexpr std::uint32_t width = 32;
  constexpr std::uint32_t wide = 2 * width;
  constexpr std::uint32_t patch = 14;
  constexpr std::uint32_t places = 32 * 32;
  constexpr std::uint32_t layers = 2;  // of both kinds: the last one attends to everything
  const auto f32 = [](std::uint64_t elements) { return 4 * elements; };
  GgufBuilder builder("clip");
  builder.flag("clip.has_vision_encoder", true)
      .text("clip.projector_type", "muse-glimmer")
      .u32("clip.vision.embedding_length", width)
      .u32("clip.vision.feed_forward_length", wide)
      .u32("clip.vision.block_count", layers)
      .u32("clip.vision.projection_dim", target_width)
      .u32("clip.vision.attention.head_count", 2)
      .f32("clip.vision.attention.layer_norm_epsilon", 1e-5f)
      .u32("clip.vision.image_size", 448)
      .u32("clip.vision.patch_size", patch)
      .u32("clip.vision.spatial_merge_size", 2)
      .f32s("clip.vision.image_mean", {0.5f, 0.5f, 0.5f})
      .f32s("clip.vision.image_std", {0.5f, 0.5f, 0.5f})
      .tensor("v.patch_embd.weight", {patch, patch, 3, width}, 0, f32(patch * patch * 3 * width))
      .tensor("v.position_embd.weight", {width, places}, 0, f32(width * places));
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    const std::string prefix = "v.blk." + std::to_string(layer) + ".";
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_out"})
      builder.tensor(prefix + name + ".weight", {width, width}, 0, f32(width * width));
    for (const char* name : {"ln1", "ln2"})
      builder.tensor(prefix + name + ".weight", {width}, 0, f32(width))
          .tensor(prefix + name + ".bias", {width}, 0, f32(width));
    builder.tensor(prefix + "ffn_up.weight", {width, wide}, 0, f32(width * wide))
        .tensor(prefix + "ffn_down.weight", {wide, width}, 0, f32(width * wide));
  }
  builder.tensor("mm.0.weight", {4 * width, wide}, 0, f32(4 * width * wide))
      .tensor("mm.1.weight", {wide, wide}, 0, f32(wide * wide))
      .tensor("mm.2.weight", {wide, target_width}, 0, f32(wide * target_width));
  return builder;
}

GgufBuilder small_model(const std::string& architecture) {
  GgufBuilder builder(architecture);
  builder.u32(architecture + ".block_count", 1)
      .u32(architecture + ".embedding_length", 4)
      .u32(architecture + ".context_length", 64)
      .texts("tokenizer.ggml.tokens", 8)
      .tensor("token_embd.weight", {4, 8}, 1, 64)
      .tensor("blk.0.attn_norm.weight", {4}, 0, 16)
      .tensor("blk.0.attn_q.weight", {4, 4}, 1, 32);
  return builder;
}

}  // namespace paceline::support
