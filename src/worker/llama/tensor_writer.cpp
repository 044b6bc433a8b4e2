#include "worker/llama/tensor_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ggml.h"
#include "synth/random.hpp"
#include "synth/walk.hpp"

namespace paceline::worker {

namespace {

using synth::Fill;
using synth::TensorPlan;

constexpr std::int64_t drawn_elements = 1 << 21;
constexpr std::int64_t elements_at_once = 1 << 18;
constexpr std::size_t buffered_bytes = 1 << 22;

ggml_type type_of(const TensorPlan& tensor) { return static_cast<ggml_type>(tensor.type); }

std::size_t row_bytes(const TensorPlan& tensor) {
  return ggml_row_size(type_of(tensor), tensor.columns());
}

bool is_tiled(const TensorPlan& tensor) {
  return tensor.fill == Fill::random && tensor.columns() * tensor.rows() > drawn_elements;
}

/// Quantises whole rows. What types want of an importance matrix they get: all elements alike.
void quantise_rows(const TensorPlan& tensor, std::span<const float> values, std::span<char> bytes) {
  const bool wanted = ggml_quantize_requires_imatrix(type_of(tensor));
  const std::vector<float> importance(wanted ? static_cast<std::size_t>(tensor.columns()) : 0,
                                      1.0f);
  const auto rows = static_cast<std::int64_t>(values.size()) / tensor.columns();
  ggml_quantize_chunk(type_of(tensor), values.data(), bytes.data(), 0, rows, tensor.columns(),
                      wanted ? importance.data() : nullptr);
}

/// The row with its blocks turned: block `turn` comes first.
void put_turned(std::span<const char> row, std::size_t turn, char* destination) {
  std::copy(row.begin() + static_cast<std::ptrdiff_t>(turn), row.end(), destination);
  std::copy(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(turn),
            destination + (row.size() - turn));
}

}  // namespace

bool TensorWriter::write(const TensorPlan& tensor) {
  return is_tiled(tensor) ? write_tiled(tensor) : write_drawn(tensor);
}

bool TensorWriter::put(std::span<const char> bytes) {
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return out_ && progress_.add(bytes.size());
}

bool TensorWriter::pad(std::uint64_t written, std::uint64_t alignment) {
  return put(std::vector<char>((alignment - written % alignment) % alignment));
}

const std::vector<std::int32_t>& TensorWriter::rows_before(double agreement) {
  const auto found = walks_.find(agreement);
  if (found != walks_.end()) return found->second;
  const synth::Walk walk(plan_.walk, plan_.shape.vocab, agreement);
  return walks_.emplace(agreement, walk.before()).first->second;
}

void TensorWriter::draw_row(const TensorPlan& tensor, std::int64_t row, std::span<float> values) {
  const auto index = static_cast<std::uint64_t>(row);
  // Both ends of the walk are made of the same rows.
  const std::uint64_t words = synth::seed_of(plan_.seed, "words");
  const std::uint64_t own = synth::seed_of(plan_.seed, tensor.name);
  switch (tensor.fill) {
    case Fill::constant:
      std::fill(values.begin(), values.end(), static_cast<float>(tensor.value));
      return;
    case Fill::words:
      return synth::fill_random(synth::mixed(words, index), tensor.value, values);
    case Fill::next_words: {
      const std::int32_t before = rows_before(tensor.agreement)[index];
      if (before >= 0)
        return synth::fill_random(synth::mixed(words, static_cast<std::uint64_t>(before)),
                                  tensor.value, values);
      std::fill(values.begin(), values.end(), 0.0f);
      return;
    }
    case Fill::negative:
      synth::fill_random(synth::mixed(own, index), tensor.value, values);
      for (float& value : values) value = -std::fabs(value) - 0.01f;
      return;
    case Fill::left_half:
      synth::fill_random(synth::mixed(own, index), tensor.value, values);
      values[index] = 1;
      return;
    case Fill::random:
      return synth::fill_random(synth::mixed(own, index), tensor.value, values);
  }
}

bool TensorWriter::write_drawn(const TensorPlan& tensor) {
  const std::int64_t most = std::max<std::int64_t>(1, elements_at_once / tensor.columns());
  const auto columns = static_cast<std::size_t>(tensor.columns());
  std::vector<float> values;
  std::vector<char> bytes;
  for (std::int64_t row = 0; row < tensor.rows(); row += most) {
    const auto rows = static_cast<std::size_t>(std::min(most, tensor.rows() - row));
    values.resize(rows * columns);
    bytes.resize(rows * row_bytes(tensor));
    for (std::size_t i = 0; i < rows; ++i)
      draw_row(tensor, row + static_cast<std::int64_t>(i),
               std::span(values).subspan(i * columns, columns));
    quantise_rows(tensor, values, bytes);
    if (!put(bytes)) return false;
  }
  return true;
}

const std::vector<char>& TensorWriter::pool_of(const TensorPlan& tensor) {
  const PoolKey key{tensor.type, tensor.columns(), tensor.value};
  const auto found = pools_.find(key);
  if (found != pools_.end()) return found->second;
  const auto rows = static_cast<std::size_t>(
      std::max<std::int64_t>(1, std::min(drawn_elements / tensor.columns(), tensor.rows())));
  std::vector<float> values(rows * static_cast<std::size_t>(tensor.columns()));
  synth::fill_random(synth::mixed(plan_.seed, pools_.size()), tensor.value, values);
  std::vector<char> bytes(rows * row_bytes(tensor));
  quantise_rows(tensor, values, bytes);
  return pools_.emplace(key, std::move(bytes)).first->second;
}

bool TensorWriter::write_tiled(const TensorPlan& tensor) {
  const std::vector<char>& pool = pool_of(tensor);
  const std::size_t size = row_bytes(tensor);
  const std::size_t block = ggml_type_size(type_of(tensor));
  const std::uint64_t pooled = pool.size() / size;
  const std::uint64_t turns = size / block;
  const std::uint64_t own = synth::seed_of(plan_.seed, tensor.name);
  const std::size_t most = std::max<std::size_t>(1, buffered_bytes / size);
  std::vector<char> bytes(most * size);
  const auto all = static_cast<std::size_t>(tensor.rows());
  for (std::size_t row = 0; row < all; row += most) {
    const std::size_t rows = std::min(most, all - row);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint64_t drawn = synth::mixed(own, row + i);
      put_turned(std::span(pool).subspan(drawn % pooled * size, size),
                 drawn / pooled % turns * block, bytes.data() + i * size);
    }
    if (!put(std::span(bytes).first(rows * size))) return false;
  }
  return true;
}

}  // namespace paceline::worker
