#pragma once

#include <optional>

#include "model/gguf.hpp"
#include "model/read_facts.hpp"
#include "util/result.hpp"

namespace paceline::model {

// Where llama.cpp v0.5.0 puts what it reads, with one device beside the CPU and no option but -ngl
// that says otherwise (load_tensors and the tables of llama-arch.cpp, the caches' constructors):
//
// - The file's blocks, those for multi-token prediction included, and the output behind them are
//   one row, of which the last -ngl are on the device: with -ngl 1 the output alone.
// - Of the output are its norm, the head, and whatever stands in no block but the following. A head
//   that is the embedding is a copy of its own there.
// - Embedding and tables of which tokens read rows stay on the CPU.
// - Frequencies of rotation and what makes per-layer inputs are with the first layer that uses
//   them. (Of the frequencies each side has a copy; they are counted once.)
// - KV cells, keys of indexers and recurrent states are where the layer is that stores them.

/// What is read of a target's file in one place.
struct ReadsAt {
  ReadFacts target;                     ///< by the target's own passes
  std::optional<ReadFacts> prediction;  ///< by those of its blocks for multi-token prediction
};

/// The same of both; bytes of any pass are those of the two together.
struct PlacedReads {
  ReadsAt cpu;
  ReadsAt device;
};

/// Of the model in all its files, with so many layers on the device. The error says why what it
/// reads is not known.
util::Result<PlacedReads> placed_reads_of(const Gguf& file, int gpu_layers);

}  // namespace paceline::model
