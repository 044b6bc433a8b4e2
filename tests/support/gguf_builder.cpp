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
