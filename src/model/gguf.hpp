#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/byte_source.hpp"
#include "util/result.hpp"

namespace paceline::model {

/// How a value is stored, by GGUF's own numbers.
enum class ValueType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

/// A list under one key. Its elements are kept when they are a few whole numbers, as per-layer
/// values are; a vocabulary's are only counted.
struct Array {
  ValueType type = ValueType::u8;  ///< of each element
  std::uint64_t count = 0;
  std::vector<std::int64_t> numbers;  ///< all of them, or none
};

struct Value {
  ValueType type = ValueType::u8;
  std::variant<std::uint64_t, std::int64_t, bool, float, double, std::string, Array> data;
};

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> dimensions;  ///< none to four
  std::uint32_t type = 0;                 ///< ggml's number, which may be unknown
  std::uint64_t offset = 0;               ///< from the start of the tensor data
  std::uint64_t elements = 0;
  std::optional<std::uint64_t> bytes;  ///< absent for a type whose size is not known
};

/// The head of one GGUF file: what it says of itself and its tensors, without their data.
/// Everything in it was checked against the file's size, so that whoever follows it stays inside
/// the file.
class Gguf {
 public:
  /// Reads the head of a file; the error names the path, what is wrong, where, and what to do.
  static util::Result<Gguf> open(const std::string& path);

  /// The same from any bytes; `name` is what errors call them.
  static util::Result<Gguf> read(const ByteSource& source, const std::string& name);

  /// The head of a file that is not written: its keys and tensors as they would be.
  static Gguf planned(const std::string& name, std::map<std::string, Value> values,
                      std::vector<Tensor> tensors);

  const std::string& path() const { return path_; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  std::uint64_t data_offset() const { return data_offset_; }  ///< where tensor data begins
  int version() const { return version_; }
  const std::map<std::string, Value>& values() const { return values_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

  /// What follows the last tensor and its padding, in bytes.
  std::uint64_t trailing_bytes() const { return trailing_bytes_; }

  /// True when what follows begins as a GGUF file does.
  bool another_follows() const { return another_follows_; }

  /// general.architecture; empty when the file has none.
  std::string architecture() const { return text("general.architecture").value_or(""); }

  const Value* find(const std::string& key) const;

  // A key of another type than asked for counts as absent.

  std::optional<std::string> text(const std::string& key) const;
  std::optional<std::int64_t> number(const std::string& key) const;
  std::optional<bool> flag(const std::string& key) const;
  const Array* array(const std::string& key) const;

  /// The number under the architecture's own prefix, as in "qwen35." + "block_count".
  std::optional<std::int64_t> own_number(const std::string& key) const;

  /// An array of whole numbers under the architecture's own prefix.
  std::optional<std::vector<std::int64_t>> own_numbers(const std::string& key) const;

  /// Tokens in the tokenizer's list, else vocab_size; nothing when the file has neither.
  std::optional<std::int64_t> vocabulary() const;

  /// Layers of the trunk: block_count without the multi-token-prediction blocks.
  std::optional<std::int64_t> trunk_layers() const;

 private:
  friend class GgufReader;
  Gguf() = default;

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t data_offset_ = 0;
  int version_ = 0;
  std::map<std::string, Value> values_;
  std::vector<Tensor> tensors_;
  std::uint64_t trailing_bytes_ = 0;
  bool another_follows_ = false;
};

}  // namespace paceline::model
