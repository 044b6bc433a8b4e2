#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "document/known.hpp"
#include "document/tool.hpp"
#include "model/file_facts.hpp"

namespace paceline::document {

/// The tensors of one class that have one type.
struct RecipeRow {
  std::string tensor_class;
  std::string type;
  bool exception = false;  ///< most elements of its class are of another type
  int tensors = 0;
  std::uint64_t elements = 0;
  Known<std::uint64_t> bytes;
  Known<double> bits_per_weight;  ///< 8 * bytes / elements
  std::string blocks;             ///< as in "0-3, 7"; empty outside the blocks
};

struct Imatrix {
  std::optional<std::string> file;
  std::optional<std::string> dataset;
  std::optional<std::int64_t> entries;
  std::optional<std::int64_t> chunks;
};

/// A drafter inside a model's file, or that the file is one.
struct DraftPart {
  std::string kind;
  Known<int> block;
  std::vector<int> target_layers;
  Known<int> nextn_layers;
  std::vector<RecipeRow> recipe;  ///< of its own blocks; empty when the whole file is the drafter
};

struct Split {
  int count = 0;
  int number = 0;
  int present = 0;
  std::vector<std::string> missing;
};

/// How positions are stretched past the context that a model was first trained with, by its file.
struct RopeScaling {
  std::string type;
  Known<double> factor;
  Known<int> original_context;  ///< that context in tokens
};

/// What one model is by its files.
struct Model {
  std::string file;  ///< without its folder
  std::string name;  ///< general.name; empty when the file has none
  std::string architecture;
  int gguf_version = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t parameters = 0;
  Known<double> bits_per_weight;  ///< over all tensors
  Known<std::string> file_type;
  std::vector<RecipeRow> recipe;
  Known<Imatrix> imatrix;
  Known<int> layers;
  Known<int> embedding_length;
  Known<int> vocabulary;
  Known<int> context_train;
  bool has_chat_template = false;
  std::map<std::string, std::string> sampling;
  Known<DraftPart> drafter;
  Known<Split> split;
  std::vector<std::string> oddities;
  Known<std::string> synthetic;  ///< how its random weights were made; not known of other files
  Known<RopeScaling> rope_scaling;
};

/// What one file is, on its own: paceline.inspect/1.
struct Inspection {
  std::string schema = "paceline.inspect/1";
  Tool tool;
  std::string created;
  Model model;
};

Model to_model(const model::FileFacts& facts);

/// Why the quant recipe of a model is not known exactly; nothing when it is (DEFINITIONS 11, F1).
std::optional<std::string> recipe_gap(const Model& model);

}  // namespace paceline::document
