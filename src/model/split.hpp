#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/file_facts.hpp"
#include "model/gguf.hpp"

namespace paceline::model {

/// The files of one split model, as far as they are there.
struct SplitSet {
  std::optional<SplitFacts> facts;  ///< absent: the model is one file
  std::vector<Gguf> others;         ///< the other files that belong to the set, by number
  const Gguf* first = nullptr;      ///< the file that holds the keys: the set's first, else `file`
  std::vector<std::string> oddities;
};

/// Looks for the files of the set that `file` belongs to, beside it. `first` points into `file` or
/// `others`.
SplitSet find_split(const Gguf& file);

/// Those of `file` and of the other files of its set. They point into both.
std::vector<const Tensor*> tensors_of(const Gguf& file, const SplitSet& set);

}  // namespace paceline::model
