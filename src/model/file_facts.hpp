#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/read_facts.hpp"

namespace paceline::model {

/// The tensors of one class that have one type; a class whose exceptions have another type has a
/// group for each.
struct TensorGroup {
  std::string tensor_class;  ///< tensor name without block number and suffix: "attn_q", "output"
  std::string type;          ///< ggml's name, or "type 42 (unknown)"
  int tensors = 0;
  std::uint64_t elements = 0;
  std::optional<std::uint64_t> bytes;  ///< absent for a type whose size is not known
  std::string blocks;                  ///< as in "0-3, 7"; empty when they are in no block
};

/// What a quantised file says of the importance matrix it was made with.
struct Imatrix {
  std::optional<std::string> file;
  std::optional<std::string> dataset;
  std::optional<std::int64_t> entries;
  std::optional<std::int64_t> chunks;
};

/// What makes a file a drafter, or a target with a drafter in it.
struct DrafterFacts {
  std::string kind;                  ///< dflash, dflash2, dspark, eagle3, gemma4-assistant or mtp
  std::optional<int> block;          ///< block size of a block drafter, in tokens
  std::optional<int> longest_draft;  ///< of those, in tokens; absent where any length can be asked
  std::vector<int> target_layers;   ///< of the target, whose input it reads; empty: it does not say
  std::optional<int> nextn_layers;  ///< multi-token-prediction blocks that the tensors bear out
  std::vector<TensorGroup> recipe;  ///< of those blocks; empty when the whole file is the drafter
  std::optional<ReadFacts> reads = {};  ///< in a pass of those blocks; absent likewise, or not
                                        ///< known
};

/// One file of several that make up a model.
struct SplitFacts {
  int count = 0;                     ///< files of the set
  int number = 0;                    ///< of this one, from 1
  int present = 0;                   ///< files that are there and belong to the set
  std::vector<std::string> missing;  ///< the first of those that are not beside this one
};

/// How a file says that its positions were stretched past the context it was first trained with.
struct RopeScaling {
  std::string type;                     ///< "linear", "yarn", "longrope" or "none"
  std::optional<double> factor;         ///< times that context; absent: the file does not say
  std::optional<int> original_context;  ///< that context in tokens; absent likewise
};

/// What one GGUF file is, read from its head without loading it. Texts from the file are printable:
/// what a terminal would obey is written as \xNN, and what goes on for long is cut.
struct FileFacts {
  std::string path;
  int gguf_version = 0;
  std::string architecture;      ///< empty when the file has none
  std::string name;              ///< general.name; empty when the file has none
  std::uint64_t file_bytes = 0;  ///< of all files of a split model that are there
  std::uint64_t parameters = 0;  ///< elements of all tensors
  std::vector<TensorGroup> recipe;
  std::optional<std::string> file_type;  ///< general.file_type by name: what the file calls itself
  std::optional<Imatrix> imatrix;        ///< absent: the file has no trace of one
  std::optional<int> layers;             ///< blocks, those for multi-token prediction included
  std::optional<int> embedding_length;
  std::optional<int> vocabulary;
  std::optional<int> context_train;
  bool has_chat_template = false;
  std::map<std::string, std::string> sampling;  ///< general.sampling.* keys, values as text
  std::optional<DrafterFacts> drafter;
  std::optional<SplitFacts> split;       ///< absent: the model is this one file
  std::vector<std::string> oddities;     ///< what is wrong or unusual and did not stop the reading
  std::optional<std::string> synthetic;  ///< how random weights were made for it; absent: it says
                                         ///< nothing of the kind
  std::optional<RopeScaling> rope_scaling = {};  ///< absent: it says nothing of any
  std::optional<ReadFacts> reads;  ///< in a pass; of a target without what its MTP blocks read
  std::string reads_unknown;       ///< why, where they are absent
};

}  // namespace paceline::model
