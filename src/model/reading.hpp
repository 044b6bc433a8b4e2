#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/gguf.hpp"
#include "model/read_facts.hpp"
#include "util/result.hpp"

namespace paceline::model {

/// One side of a model with so many layers on a device, as placing.hpp counts them: that device, or
/// the CPU.
struct Side {
  int gpu_layers = 0;
  bool on_device = false;
};

/// What a pass of the model reads, by the rules of its architecture's graph in llama.cpp v0.5.0; of
/// a drafter's file what one draft pass does. `tensors` are those of all its files; of a side what
/// is read there. The error says why it cannot be known: nothing is guessed for an architecture or
/// tensor without a rule.
util::Result<ReadFacts> reads_of(const Gguf& head, const std::vector<const Tensor*>& tensors,
                                 std::optional<Side> side = std::nullopt);

/// The same of the multi-token-prediction blocks in a target's file, for one pass of them.
util::Result<ReadFacts> prediction_reads_of(const Gguf& head,
                                            const std::vector<const Tensor*>& tensors,
                                            std::optional<Side> side = std::nullopt);

/// The class of each tensor by its name, of the embedding that of the head; "other" for those
/// without a rule. Empty where the layers cannot be made out.
std::map<std::string, std::string> classes_of(const Gguf& head,
                                              const std::vector<const Tensor*>& tensors);

}  // namespace paceline::model
