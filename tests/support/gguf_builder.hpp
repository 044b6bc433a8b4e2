#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::support {

/// Little-endian bytes of a number, as many as its type has.
template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i)));
  return bytes;
}

/// A length as a u64 and the bytes.
std::string gguf_string(std::string_view text);

/// Writes GGUF byte by byte, independently of every reader. Whatever a caller does not spoil is
/// right: counts, offsets and padding follow from what was added.
class GgufBuilder {
 public:
  explicit GgufBuilder(std::string architecture = "llama");

  /// A key with the number of its type and the bytes of its value.
  GgufBuilder& key(std::string_view name, std::uint32_t type, std::string_view value);
  GgufBuilder& u32(std::string_view name, std::uint32_t value);
  GgufBuilder& f32(std::string_view name, float value);
  GgufBuilder& flag(std::string_view name, bool value);
  GgufBuilder& text(std::string_view name, std::string_view value);
  GgufBuilder& u32s(std::string_view name, const std::vector<std::uint32_t>& values);

  GgufBuilder& f32s(std::string_view name, const std::vector<float>& values);

  /// A list of `count` texts "t".
  GgufBuilder& texts(std::string_view name, std::size_t count);

  /// A tensor of that shape and type, with as many zero bytes as `bytes`.
  GgufBuilder& tensor(std::string_view name, const std::vector<std::uint64_t>& dimensions,
                      std::uint32_t type, std::uint64_t bytes);

  /// A tensor that says to be at `offset`, and has no data in the file.
  GgufBuilder& tensor_at(std::string_view name, const std::vector<std::uint64_t>& dimensions,
                         std::uint32_t type, std::uint64_t offset);

  GgufBuilder& version(std::uint32_t version);
  GgufBuilder& counts(std::int64_t tensors, std::int64_t keys);
  GgufBuilder& alignment(std::size_t alignment);

  /// The head up to the padding before the data.
  std::string head() const;

  std::string bytes() const;

 private:
  std::uint32_t version_ = 3;
  std::int64_t keys_ = 0;
  std::int64_t tensors_ = 0;
  bool counted_ = true;
  std::int64_t said_keys_ = 0;
  std::int64_t said_tensors_ = 0;
  std::size_t alignment_ = 32;
  std::string key_bytes_;
  std::string tensor_bytes_;
  std::string data_;
};

/// A vision projector of two layers for a model of that width: patches of 14 x 14 pixels, four of
/// them a token. All its weights are zero.
GgufBuilder small_projector(std::uint32_t target_width);

/// A whole small model: an embedding and one block of two tensors, all F16 but a norm.
GgufBuilder small_model(const std::string& architecture = "llama");

}  // namespace paceline::support
