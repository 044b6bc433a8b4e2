#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::model {

/// Weights of one class that a pass reads whole, however many tokens it has.
struct WeightsRead {
  std::string name;  ///< of the class, as in "feed-forward"
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
};

/// Rows that each token of a pass reads from a table.
struct RowsRead {
  std::string name;             ///< of the class, as in "n-gram table"
  std::uint64_t rows = 0;       ///< for each token
  std::uint64_t row_bytes = 0;  ///< of one row
  std::uint64_t row_elements = 0;
  std::uint64_t table_bytes = 0;
  int spared = 0;  ///< tokens of each pass that read none
};

/// Experts of which a router picks some for each token, in all layers that have them.
struct ExpertsRead {
  int layers = 0;
  int count = 0;            ///< of one layer
  int used = 0;             ///< for one token in one layer
  std::uint64_t bytes = 0;  ///< of all experts in all layers
  std::uint64_t elements = 0;
};

/// Cells of the KV cache that layers of one kind read.
struct CacheRead {
  int layers = 0;
  std::uint64_t key_elements = 0;    ///< of one cell
  std::uint64_t value_elements = 0;  ///< likewise
  int window = 0;                    ///< in tokens; 0: the layers attend to everything
};

/// What llama.cpp v0.5.0 reads of a model in a pass, by its head alone: everything that the bytes
/// of a pass of any width and depth follow from (bytes.hpp).
struct ReadFacts {
  std::vector<WeightsRead> weights;
  std::vector<RowsRead> rows;
  std::optional<ExpertsRead> experts;
  std::vector<CacheRead> caches;
  std::uint64_t recurrent_bytes = 0;  ///< of the state of all recurrent layers, however deep
  std::vector<std::string> borrowed;  ///< classes that a drafter reads in its target's file

  // Of a drafter alone: how it takes in what the target has computed, and how it drafts.
  std::vector<WeightsRead> taking_in;  ///< weights that are read for the first of these
  bool takes_in_by_pass = true;        ///< and a pass besides
  bool takes_in_with_head = true;      ///< which computes logits
  std::optional<int> block_anchors;    ///< tokens of its one pass for a draft that draft nothing;
                                       ///< absent: each drafted token takes a pass
};

}  // namespace paceline::model
