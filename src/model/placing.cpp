#include "model/placing.hpp"

#include "model/reading.hpp"
#include "model/split.hpp"

namespace paceline::model {

util::Result<PlacedReads> placed_reads_of(const Gguf& file, int gpu_layers) {
  const SplitSet set = find_split(file);
  const auto tensors = tensors_of(file, set);
  const auto read = [&](bool on_device) -> util::Result<ReadsAt> {
    const Side side{gpu_layers, on_device};
    ReadsAt reads;
    PACELINE_TRY_ASSIGN(reads.target, reads_of(*set.first, tensors, side));
    if (auto prediction = prediction_reads_of(*set.first, tensors, side))
      reads.prediction = std::move(*prediction);
    return reads;
  };
  PlacedReads placed;
  PACELINE_TRY_ASSIGN(placed.cpu, read(false));
  PACELINE_TRY_ASSIGN(placed.device, read(true));
  return placed;
}

}  // namespace paceline::model
