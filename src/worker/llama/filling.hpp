#pragma once

#include <ostream>
#include <random>
#include <vector>

#include "worker/llama/ballast.hpp"

namespace paceline::worker {

/// What random elements of ballast vary by: as little as a trained model's.
inline constexpr double ballast_deviation = 0.02;

/// Writes tensors of a heavier copy that are wider than the source's. Random elements are uniform
/// and come from one generator, so that the order of tensors fixes every byte.
class Filler {
 public:
  /// Writes `source` (of shape `part`, empty for none) and the fill around it row by row, then
  /// zeros up to the alignment.
  void write(const HeavyTensor& tensor, const MatrixShape& part, const std::vector<char>& source,
             std::size_t alignment, std::ostream& out);

 private:
  void fill(Fill kind, ggml_type type, std::size_t count, char* destination);

  std::mt19937 random_{20240607};
  std::vector<float> values_;
};

}  // namespace paceline::worker
