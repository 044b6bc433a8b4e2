#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/gguf.hpp"
#include "util/result.hpp"

namespace paceline::model {

/// One layer of a model, as far as it decides about what is read.
struct Layer {
  bool recurrent = false;
  std::optional<int> cells_of = {};  ///< an earlier layer; absent: it has cells of its own
  bool has_indexer = false;          ///< and with it keys of its own, which choose cells
  int window = 0;                    ///< in tokens; 0: it attends to everything
  std::uint64_t key_elements = 0;
  std::uint64_t value_elements = 0;
};

/// All layers of the trunk, and behind them those for multi-token prediction; a drafter of which
/// all layers are such has no trunk. The error says which number the head lacks or makes no sense.
util::Result<std::vector<Layer>> layers_of(const Gguf& head);

/// Bytes of the state of one recurrent layer: what the convolution remembers, and the delta rule.
util::Result<std::uint64_t> state_bytes(const Gguf& head);

}  // namespace paceline::model
