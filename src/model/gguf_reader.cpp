#include "model/gguf_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>

#include "model/tensor_type.hpp"
#include "util/printable.hpp"

namespace paceline::model {

namespace {

constexpr std::string_view magic = "GGUF";
constexpr std::uint32_t newest_version = 3;
constexpr std::uint64_t default_alignment = 32;
constexpr std::uint32_t most_dimensions = 4;
constexpr std::uint64_t longest_name = 63;         // of a tensor, as ggml has it
constexpr std::uint64_t longest_key = 65535;       // as the format's description has it
constexpr std::uint64_t most_kept_numbers = 4096;  // per-layer values and the like
constexpr std::int64_t most_entries = 1 << 20;     // no model comes near it; bounds memory
// The fewest bytes an entry takes: a key of one letter with a value of one byte; a tensor without
// a name and without dimensions.
constexpr std::uint64_t smallest_key = 8 + 1 + 4 + 1;
constexpr std::uint64_t smallest_tensor = 8 + 4 + 4 + 8;
constexpr const char* alignment_key = "general.alignment";

std::string in_quotes(const std::string& hostile) { return "'" + util::printable(hostile) + "'"; }

/// Bytes of a value of fixed size; 0 for strings, lists and what is no type at all.
std::uint64_t fixed_size(ValueType type) {
  constexpr std::array<std::uint64_t, 13> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const auto index = static_cast<std::size_t>(type);
  return index < sizes.size() ? sizes[index] : 0;
}

/// What a file that does not begin as GGUF does probably is, and what to do about it.
std::string other_format(const std::string& start) {
  const auto begins = [&start](std::string_view with) { return start.rfind(with, 0) == 0; };
  if (begins("<!") || begins("<htm") || begins("<HTM") || begins("<?xm"))
    return "it is a web page, as a failed download leaves one; fetch the file itself";
  if (begins("vers"))
    return "it may be a Git LFS pointer: fetch the file itself with `git lfs pull`";
  if (begins("lmgg") || begins("tjgg") || begins("algg") || begins("fmgg") || begins("ggml") ||
      begins("ggjt") || begins("ggla") || begins("ggmf"))
    return "it is of a format older than GGUF; convert the original model again";
  if (begins("FUGG")) return "its byte order is turned round; fetch it for little-endian machines";
  return "a piece of a split download, other than the first, looks like this, too: join the pieces "
         "in order, or convert the model with llama.cpp's convert_hf_to_gguf.py";
}

bool padded(std::uint64_t size, std::uint64_t alignment, std::uint64_t& result) {
  if (__builtin_add_overflow(size, alignment - 1, &result)) return false;
  result &= ~(alignment - 1);
  return true;
}

template <class Number>
util::Result<Value> whole(Cursor& cursor, ValueType type, const std::string& what) {
  PACELINE_TRY_ASSIGN(const Number number, cursor.number<Number>(what));
  if constexpr (std::is_signed_v<Number>)
    return Value{type, static_cast<std::int64_t>(number)};
  else
    return Value{type, static_cast<std::uint64_t>(number)};
}

util::Result<Value> fixed_value(Cursor& cursor, ValueType type, const std::string& what) {
  switch (type) {
    case ValueType::u8:
      return whole<std::uint8_t>(cursor, type, what);
    case ValueType::i8:
      return whole<std::int8_t>(cursor, type, what);
    case ValueType::u16:
      return whole<std::uint16_t>(cursor, type, what);
    case ValueType::i16:
      return whole<std::int16_t>(cursor, type, what);
    case ValueType::u32:
      return whole<std::uint32_t>(cursor, type, what);
    case ValueType::i32:
      return whole<std::int32_t>(cursor, type, what);
    case ValueType::u64:
      return whole<std::uint64_t>(cursor, type, what);
    case ValueType::i64:
      return whole<std::int64_t>(cursor, type, what);
    case ValueType::f32: {
      PACELINE_TRY_ASSIGN(const auto bits, cursor.number<std::uint32_t>(what));
      return Value{type, std::bit_cast<float>(bits)};
    }
    case ValueType::f64: {
      PACELINE_TRY_ASSIGN(const auto bits, cursor.number<std::uint64_t>(what));
      return Value{type, std::bit_cast<double>(bits)};
    }
    default: {
      PACELINE_TRY_ASSIGN(const auto byte, cursor.number<std::uint8_t>(what));
      return Value{type, byte != 0};
    }
  }
}

/// The whole number in a value of fixed size; absent for the others and for what does not fit.
std::optional<std::int64_t> whole_number(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value.data)) return *truth ? 1 : 0;
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return *number;
  const auto* number = std::get_if<std::uint64_t>(&value.data);
  if (number == nullptr || *number > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace

util::Result<Gguf> Gguf::read(const ByteSource& source, const std::string& name) {
  return GgufReader(source, name).read();
}

GgufReader::GgufReader(const ByteSource& source, const std::string& path) : cursor_(source, path) {
  gguf_.path_ = path;
  gguf_.file_bytes_ = source.size();
}

util::Result<Gguf> GgufReader::read() {
  PACELINE_TRY(read_magic());
  PACELINE_TRY(read_version());
  PACELINE_TRY(read_counts());
  PACELINE_TRY(read_keys());
  PACELINE_TRY(read_alignment());
  PACELINE_TRY(read_tensors());
  PACELINE_TRY(check_names());
  PACELINE_TRY(check_layout());
  return std::move(gguf_);
}

util::Result<void> GgufReader::read_magic() {
  const std::string start = cursor_.peek(0, magic.size());
  if (start != magic.substr(0, start.size()))
    return cursor_.unfit(
        fmt::format("is not a GGUF file (it begins with \"{}\", not with \"GGUF\"): "
                    "{}.",
                    util::printable(start), other_format(start)));
  return cursor_.skip(magic.size(), "the mark of the format");
}

util::Result<void> GgufReader::read_version() {
  PACELINE_TRY_ASSIGN(const auto version, cursor_.number<std::uint32_t>("the version"));
  if (version != 0 && (version & 0xffff) == 0)
    return cursor_.unfit(
        "is written for big-endian machines: fetch or convert it for little-endian ones.");
  if (version == 0 || version == 1)
    return cursor_.unfit(
        fmt::format("is of GGUF version {}, which is not read any more: convert "
                    "the original model again.",
                    version));
  if (version > newest_version)
    return cursor_.unfit(
        fmt::format("is of GGUF version {}, newer than version {}, the last one "
                    "this program reads: take a newer program.",
                    version, newest_version));
  gguf_.version_ = static_cast<int>(version);
  return {};
}

util::Result<void> GgufReader::read_counts() {
  const auto read_count = [this](const char* things, std::uint64_t smallest,
                                 std::int64_t& count) -> util::Result<void> {
    const std::uint64_t where = cursor_.offset();
    PACELINE_TRY_ASSIGN(count,
                        cursor_.number<std::int64_t>(fmt::format("the number of {}", things)));
    if (count >= 0 && static_cast<std::uint64_t>(count) <= cursor_.left() / smallest &&
        count <= most_entries)
      return {};
    return cursor_.damaged(where,
                           fmt::format("it claims {} {}, and {} bytes follow (at most {} are "
                                       "read)",
                                       count, things, cursor_.left(), most_entries));
  };
  PACELINE_TRY(read_count("tensors", smallest_tensor, tensor_count_));
  return read_count("keys", smallest_key, key_count_);
}

util::Result<void> GgufReader::read_keys() {
  for (std::int64_t i = 0; i < key_count_; ++i) PACELINE_TRY(read_key(i));
  return {};
}

util::Result<void> GgufReader::read_key(std::int64_t index) {
  const std::uint64_t where = cursor_.offset();
  PACELINE_TRY_ASSIGN(const std::string key,
                      cursor_.text(longest_key, fmt::format("the name of key {}", index)));
  if (key.empty()) return cursor_.damaged(where, fmt::format("key {} has no name", index));
  if (gguf_.values_.contains(key))
    return cursor_.damaged(where, fmt::format("the key {} comes twice", in_quotes(key)));
  PACELINE_TRY_ASSIGN(const auto type,
                      cursor_.number<std::uint32_t>("the type of " + in_quotes(key)));
  PACELINE_TRY_ASSIGN(Value value, read_value(ValueType{type}, key));
  gguf_.values_.emplace(key, std::move(value));
  return {};
}

util::Result<Value> GgufReader::read_value(ValueType type, const std::string& key) {
  const std::string what = "the value of " + in_quotes(key);
  if (type == ValueType::array) return read_array(key);
  if (type == ValueType::string) {
    PACELINE_TRY_ASSIGN(std::string text, cursor_.text(cursor_.left(), what));
    return Value{type, std::move(text)};
  }
  if (fixed_size(type) > 0) return fixed_value(cursor_, type, what);
  return cursor_.damaged(cursor_.offset() - 4,
                         fmt::format("the key {} has the type {}, which there is not",
                                     in_quotes(key), static_cast<std::int32_t>(type)));
}

util::Result<Value> GgufReader::read_array(const std::string& key) {
  const std::uint64_t where = cursor_.offset();
  Array array;
  PACELINE_TRY_ASSIGN(const auto type,
                      cursor_.number<std::uint32_t>("the list type of " + in_quotes(key)));
  PACELINE_TRY_ASSIGN(array.count,
                      cursor_.number<std::uint64_t>("the list length of " + in_quotes(key)));
  array.type = ValueType{type};
  const std::uint64_t smallest = array.type == ValueType::string ? 8 : fixed_size(array.type);
  if (array.type == ValueType::array)
    return cursor_.damaged(where, fmt::format("the key {} is a list of lists, which no reader of "
                                              "models supports",
                                              in_quotes(key)));
  if (smallest == 0)
    return cursor_.damaged(where, fmt::format("the key {} is a list of type {}, which there is not",
                                              in_quotes(key), static_cast<std::int32_t>(type)));
  if (array.count > cursor_.left() / smallest)
    return cursor_.damaged(where,
                           fmt::format("the list {} claims {} elements of at least {} bytes, "
                                       "but {} bytes follow",
                                       in_quotes(key), array.count, smallest, cursor_.left()));
  PACELINE_TRY(read_elements(array, key));
  return Value{ValueType::array, std::move(array)};
}

util::Result<void> GgufReader::read_elements(Array& array, const std::string& key) {
  const std::string what = "the list " + in_quotes(key);
  if (array.type == ValueType::string) {
    for (std::uint64_t i = 0; i < array.count; ++i) {
      PACELINE_TRY_ASSIGN(const auto length, cursor_.number<std::uint64_t>(what));
      PACELINE_TRY(cursor_.skip(length, what));
    }
    return {};
  }
  const bool kept = array.count <= most_kept_numbers && array.type != ValueType::f32 &&
                    array.type != ValueType::f64;
  if (!kept) return cursor_.skip(array.count * fixed_size(array.type), what);
  for (std::uint64_t i = 0; i < array.count; ++i) {
    PACELINE_TRY_ASSIGN(const Value element, fixed_value(cursor_, array.type, what));
    if (const auto number = whole_number(element)) array.numbers.push_back(*number);
  }
  if (array.numbers.size() != array.count) array.numbers.clear();
  return {};
}

util::Result<void> GgufReader::read_alignment() {
  alignment_ = default_alignment;
  const Value* value = gguf_.find(alignment_key);
  if (value == nullptr) return {};
  const auto number = gguf_.number(alignment_key);
  if (value->type == ValueType::u32 && number &&
      std::has_single_bit(static_cast<std::uint64_t>(*number))) {
    alignment_ = static_cast<std::uint64_t>(*number);
    return {};
  }
  return cursor_.unfit(
      fmt::format("has a {} that is no power of two stored as u32 ({}): convert "
                  "the model again.",
                  alignment_key, number ? std::to_string(*number) : "not a whole number"));
}

util::Result<void> GgufReader::read_tensors() {
  for (std::int64_t i = 0; i < tensor_count_; ++i) {
    PACELINE_TRY_ASSIGN(Tensor tensor, read_tensor(i));
    gguf_.tensors_.push_back(std::move(tensor));
  }
  return {};
}

util::Result<Tensor> GgufReader::read_tensor(std::int64_t index) {
  Tensor tensor;
  const std::uint64_t where = cursor_.offset();
  PACELINE_TRY_ASSIGN(tensor.name,
                      cursor_.text(longest_name, fmt::format("the name of tensor {}", index)));
  PACELINE_TRY(read_shape(tensor));
  PACELINE_TRY_ASSIGN(
      tensor.type, cursor_.number<std::uint32_t>("the type of tensor " + in_quotes(tensor.name)));
  PACELINE_TRY_ASSIGN(tensor.offset, cursor_.number<std::uint64_t>("the offset of tensor " +
                                                                   in_quotes(tensor.name)));
  PACELINE_TRY(read_size(tensor, where));
  return tensor;
}

util::Result<void> GgufReader::read_shape(Tensor& tensor) {
  const std::uint64_t where = cursor_.offset();
  const std::string what = "the shape of tensor " + in_quotes(tensor.name);
  PACELINE_TRY_ASSIGN(const auto count, cursor_.number<std::uint32_t>(what));
  if (count > most_dimensions)
    return cursor_.damaged(
        where, fmt::format("{} has {} dimensions, more than {}", what, count, most_dimensions));
  std::int64_t elements = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    PACELINE_TRY_ASSIGN(const auto length, cursor_.number<std::int64_t>(what));
    if (length < 0)
      return cursor_.damaged(where, fmt::format("{} has a length of {}", what, length));
    // Multiplied with the check first: a product that wraps may be small, or exactly zero.
    if (__builtin_mul_overflow(elements, length, &elements))
      return cursor_.damaged(where, fmt::format("{} has more elements than can be counted", what));
    tensor.dimensions.push_back(static_cast<std::uint64_t>(length));
  }
  tensor.elements = static_cast<std::uint64_t>(elements);
  return {};
}

util::Result<void> GgufReader::read_size(Tensor& tensor, std::uint64_t where) {
  const TensorType* type = find_tensor_type(tensor.type);
  if (type == nullptr) return {};
  const std::uint64_t row = tensor.dimensions.empty() ? 1 : tensor.dimensions.front();
  if (row % type->block != 0)
    return cursor_.damaged(where,
                           fmt::format("tensor {} has rows of {} elements, which {} cannot "
                                       "hold (blocks of {})",
                                       in_quotes(tensor.name), row, type->name, type->block));
  std::uint64_t bytes = 0;
  std::uint64_t with_padding = 0;
  if (__builtin_mul_overflow(tensor.elements / type->block, type->bytes, &bytes) ||
      !padded(bytes, alignment_, with_padding))
    return cursor_.damaged(where, fmt::format("tensor {} takes more bytes than can be counted",
                                              in_quotes(tensor.name)));
  tensor.bytes = bytes;
  return {};
}

util::Result<void> GgufReader::check_names() {
  std::vector<std::string_view> names;
  for (const Tensor& tensor : gguf_.tensors_) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return {};
  return cursor_.damaged(cursor_.offset(), fmt::format("the tensor {} was listed twice",
                                                       in_quotes(std::string(*twice))));
}

/// Tensors follow one another, each at the next multiple of the alignment. After one whose size is
/// not known the next may be anywhere further on.
util::Result<void> GgufReader::check_layout() {
  std::uint64_t data_offset = 0;
  if (!padded(cursor_.offset(), alignment_, data_offset))
    return cursor_.damaged(cursor_.offset(), "the tensor data would begin beyond any file");
  gguf_.data_offset_ = data_offset;
  std::uint64_t end = gguf_.tensors_.empty() ? cursor_.offset() : data_offset;
  std::optional<std::uint64_t> expected = 0;
  const Tensor* first_missing = nullptr;
  for (const Tensor& tensor : gguf_.tensors_) {
    PACELINE_TRY(check_place(tensor, expected));
    PACELINE_TRY_ASSIGN(end, end_of(tensor, data_offset));
    if (end > gguf_.file_bytes_ && first_missing == nullptr) first_missing = &tensor;
    expected.reset();
    if (tensor.bytes) {
      expected.emplace();
      padded(end - data_offset, alignment_, *expected);
    }
  }
  if (first_missing != nullptr) return cut_short(*first_missing, end);
  const bool sizes_known = gguf_.tensors_.empty() || expected;
  if (sizes_known) look_behind(end);
  return {};
}

util::Result<void> GgufReader::check_place(const Tensor& tensor,
                                           std::optional<std::uint64_t> expected) {
  if (expected ? tensor.offset == *expected : tensor.offset % alignment_ == 0) return {};
  return cursor_.damaged(
      cursor_.offset(),
      fmt::format("the data of tensor {} is said to be at {}{}", in_quotes(tensor.name),
                  tensor.offset,
                  expected ? fmt::format(", and the one before it ends at {}", *expected)
                           : fmt::format(", no multiple of {}", alignment_)));
}

/// Where the data of a tensor ends in the file, of one with unknown size where it begins.
util::Result<std::uint64_t> GgufReader::end_of(const Tensor& tensor, std::uint64_t data_offset) {
  std::uint64_t end = 0;
  if (__builtin_add_overflow(data_offset, tensor.offset, &end) ||
      __builtin_add_overflow(end, tensor.bytes.value_or(0), &end) ||
      end > std::numeric_limits<std::uint64_t>::max() - alignment_)
    return cursor_.damaged(
        cursor_.offset(),
        fmt::format("the data of tensor {} would end beyond any file", in_quotes(tensor.name)));
  return end;
}

tl::unexpected<util::Error> GgufReader::cut_short(const Tensor& first_missing,
                                                  std::uint64_t end) const {
  return cursor_.unfit(fmt::format(
      "is cut short: it has {} of at least {} bytes, and the data of tensor {} is not all there: "
      "fetch it again, or join its pieces in order.",
      gguf_.file_bytes_, end, in_quotes(first_missing.name)));
}

void GgufReader::look_behind(std::uint64_t end) {
  std::uint64_t padded_end = 0;
  padded(end, alignment_, padded_end);
  gguf_.another_follows_ =
      cursor_.peek(end, magic.size()) == magic || cursor_.peek(padded_end, magic.size()) == magic;
  if (gguf_.file_bytes_ > padded_end) gguf_.trailing_bytes_ = gguf_.file_bytes_ - padded_end;
}

}  // namespace paceline::model
