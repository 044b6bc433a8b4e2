#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/cursor.hpp"
#include "model/gguf.hpp"

namespace paceline::model {

/// Reads the head of a GGUF file from its first byte to its last, once. Nothing is allocated by a
/// number that the rest of the file could not bear out.
class GgufReader {
 public:
  GgufReader(const ByteSource& source, const std::string& path);

  util::Result<Gguf> read();

 private:
  util::Result<void> read_magic();
  util::Result<void> read_version();
  util::Result<void> read_counts();
  util::Result<void> read_keys();
  util::Result<void> read_key(std::int64_t index);
  util::Result<Value> read_value(ValueType type, const std::string& key);
  util::Result<Value> read_array(const std::string& key);
  util::Result<void> read_elements(Array& array, const std::string& key);
  util::Result<void> read_alignment();
  util::Result<void> read_tensors();
  util::Result<Tensor> read_tensor(std::int64_t index);
  util::Result<void> read_shape(Tensor& tensor);
  util::Result<void> read_size(Tensor& tensor, std::uint64_t where);
  util::Result<void> check_names();
  util::Result<void> check_layout();
  util::Result<void> check_place(const Tensor& tensor, std::optional<std::uint64_t> expected);
  util::Result<std::uint64_t> end_of(const Tensor& tensor, std::uint64_t data_offset);
  tl::unexpected<util::Error> cut_short(const Tensor& first_missing, std::uint64_t end) const;
  void look_behind(std::uint64_t end);

  Cursor cursor_;
  Gguf gguf_;
  std::int64_t key_count_ = 0;
  std::int64_t tensor_count_ = 0;
  std::uint64_t alignment_ = 0;
};

}  // namespace paceline::model
