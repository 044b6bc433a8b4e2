#include "model/table_on_disk.hpp"

#include "model/gguf.hpp"
#include "model/split.hpp"

namespace paceline::model {

namespace {

constexpr std::uint64_t largest_loaded = 4ull << 30;

std::optional<TensorRange> table_in(const Gguf& file) {
  for (const Tensor& tensor : file.tensors())
    if (tensor.name == "per_layer_token_embd.weight" && tensor.bytes.value_or(0) > largest_loaded)
      return TensorRange{file.path(), file.data_offset() + tensor.offset, *tensor.bytes};
  return std::nullopt;
}

}  // namespace

std::optional<TensorRange> table_on_disk(const std::string& path) {
  const auto file = Gguf::open(path);
  if (!file) return std::nullopt;
  if (auto found = table_in(*file)) return found;
  for (const Gguf& other : find_split(*file).others)
    if (auto found = table_in(other)) return found;
  return std::nullopt;
}

}  // namespace paceline::model
