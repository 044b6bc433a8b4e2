#include "worker/llama/filling.hpp"

#include <algorithm>
#include <cstring>

namespace paceline::worker {

namespace {

constexpr double square_root_of_3 = 1.7320508075688772;

}  // namespace

void Filler::fill(Fill kind, ggml_type type, std::size_t count, char* destination) {
  if (count == 0) return;  // nothing is copied from nowhere: memcpy does not allow even that
  values_.assign(count, kind == Fill::one ? 1.0f : 0.0f);
  if (kind == Fill::random) {
    // Uniform, not normal: no library's logarithm or cosine may decide about a byte.
    constexpr double widest = ballast_deviation * square_root_of_3;
    constexpr double unit = widest / 2147483648.0;
    for (float& value : values_)
      value = static_cast<float>(static_cast<double>(random_()) * unit - widest);
  }
  if (type == GGML_TYPE_F32)
    std::memcpy(destination, values_.data(), count * sizeof(float));
  else
    ggml_fp32_to_fp16_row(values_.data(), reinterpret_cast<ggml_fp16_t*>(destination),
                          static_cast<std::int64_t>(count));
}

void Filler::write(const HeavyTensor& tensor, const MatrixShape& part,
                   const std::vector<char>& source, std::size_t alignment, std::ostream& out) {
  const std::size_t element = ggml_type_size(tensor.type);
  const auto columns = static_cast<std::size_t>(tensor.shape.columns);
  const auto kept = static_cast<std::size_t>(part.columns);
  std::vector<char> row(columns * element);
  for (std::int64_t i = 0; i < tensor.shape.rows; ++i) {
    const std::size_t copied = i < part.rows ? kept : 0;
    // Not memcpy: a row that is all filling copies nothing, from a source that may be empty.
    std::copy_n(source.data() + static_cast<std::size_t>(i) * copied * element, copied * element,
                row.data());
    fill(tensor.fill, tensor.type, columns - copied, row.data() + copied * element);
    out.write(row.data(), static_cast<std::streamsize>(row.size()));
  }
  const std::size_t written = row.size() * static_cast<std::size_t>(tensor.shape.rows);
  const std::vector<char> padding((alignment - written % alignment) % alignment);
  out.write(padding.data(), static_cast<std::streamsize>(padding.size()));
}

}  // namespace paceline::worker
