#include "model/gguf.hpp"

#include <limits>
#include <utility>

namespace paceline::model {

util::Result<Gguf> Gguf::open(const std::string& path) {
  PACELINE_TRY_ASSIGN(const FileSource file, FileSource::open(path));
  return read(file, path);
}

Gguf Gguf::planned(const std::string& name, std::map<std::string, Value> values,
                   std::vector<Tensor> tensors) {
  Gguf head;
  head.path_ = name;
  head.version_ = 3;
  head.values_ = std::move(values);
  head.tensors_ = std::move(tensors);
  for (const Tensor& tensor : head.tensors_) head.file_bytes_ += tensor.bytes.value_or(0);
  return head;
}

const Value* Gguf::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<std::string> Gguf::text(const std::string& key) const {
  const Value* value = find(key);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
  return text == nullptr ? std::nullopt : std::optional<std::string>(*text);
}

std::optional<bool> Gguf::flag(const std::string& key) const {
  const Value* value = find(key);
  const auto* flag = value == nullptr ? nullptr : std::get_if<bool>(&value->data);
  return flag == nullptr ? std::nullopt : std::optional<bool>(*flag);
}

std::optional<std::int64_t> Gguf::number(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&value->data)) return *number;
  const auto* number = std::get_if<std::uint64_t>(&value->data);
  if (number == nullptr || *number > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

const Array* Gguf::array(const std::string& key) const {
  const Value* value = find(key);
  return value == nullptr ? nullptr : std::get_if<Array>(&value->data);
}

std::optional<std::int64_t> Gguf::own_number(const std::string& key) const {
  return number(architecture() + "." + key);
}

std::optional<std::vector<std::int64_t>> Gguf::own_numbers(const std::string& key) const {
  const Array* list = array(architecture() + "." + key);
  if (list == nullptr || list->numbers.size() != list->count) return std::nullopt;
  return list->numbers;
}

std::optional<std::int64_t> Gguf::vocabulary() const {
  const Array* tokens = array("tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->type == ValueType::string)
    return static_cast<std::int64_t>(tokens->count);
  return own_number("vocab_size");
}

std::optional<std::int64_t> Gguf::trunk_layers() const {
  const auto blocks = own_number("block_count");
  if (!blocks) return std::nullopt;
  std::int64_t trunk = 0;
  const bool absurd =
      __builtin_sub_overflow(*blocks, own_number("nextn_predict_layers").value_or(0), &trunk);
  return absurd ? std::nullopt : std::optional<std::int64_t>(trunk);
}

}  // namespace paceline::model
