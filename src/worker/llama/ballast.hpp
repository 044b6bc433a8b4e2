#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ggml.h"

namespace paceline::worker {

/// What stands in the part of a tensor that its source does not have.
enum class Fill { zero, one, random };

/// A tensor as a matrix: `rows` rows of `columns` elements that lie together.
struct MatrixShape {
  std::int64_t columns = 0;
  std::int64_t rows = 0;
};

struct SourceTensor {
  std::string name;
  ggml_type type = GGML_TYPE_F16;
  MatrixShape shape;
  std::int64_t depth = 1;  ///< matrices that the rows are of, as those of experts
};

/// A tensor of the heavier copy: the source in its upper left corner, the fill around it.
struct HeavyTensor {
  std::string name;
  ggml_type type = GGML_TYPE_F16;
  MatrixShape shape;
  int source = -1;  ///< index of the source tensor; -1: all of it is fill
  Fill fill = Fill::zero;
  std::int64_t depth = 1;
};

struct Ballast {
  int trunk_layers = 0;    ///< of the source, before those that are moved behind the added ones
  int template_layer = 0;  ///< the attention layer whose shapes the added layers take
  int extra_layers = 0;
  std::int64_t feed_forward = 0;
};

/// The tensors of the heavier copy. Added layers come after the trunk, so that layers a drafter
/// reads keep their numbers, and before the prediction blocks, which are renumbered. They add
/// nothing: the matrices that lead back into the residual stream are zero. Feed-forwards get dead
/// neurons: random rows in, zero columns out. A width of 0 leaves them as they are.
std::vector<HeavyTensor> plan_heavier(const std::vector<SourceTensor>& source,
                                      const Ballast& ballast);

}  // namespace paceline::worker
