#include "document/model.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "document/counted.hpp"

namespace paceline::document {

namespace {

constexpr const char* not_said = "the file does not say";

Known<double> bits(std::optional<std::uint64_t> bytes, std::uint64_t elements) {
  if (!bytes) return not_known<double>("the size of its type is not known");
  if (elements == 0) return not_known<double>("it has no elements");
  return known(8 * static_cast<double>(*bytes) / static_cast<double>(elements));
}

std::vector<RecipeRow> to_recipe(const std::vector<model::TensorGroup>& groups) {
  std::map<std::string, std::uint64_t> largest;
  for (const auto& group : groups) {
    std::uint64_t& elements = largest[group.tensor_class];
    elements = std::max(elements, group.elements);
  }
  std::vector<RecipeRow> rows;
  for (const auto& group : groups) {
    const bool exception = group.elements < largest[group.tensor_class];
    rows.push_back({group.tensor_class, group.type, exception, group.tensors, group.elements,
                    known_or(group.bytes, "the size of its type is not known"),
                    bits(group.bytes, group.elements), group.blocks});
  }
  return rows;
}

std::optional<std::uint64_t> total_bytes(const std::vector<model::TensorGroup>& groups) {
  std::uint64_t total = 0;
  for (const auto& group : groups) {
    if (!group.bytes || __builtin_add_overflow(total, *group.bytes, &total)) return std::nullopt;
  }
  return total;
}

std::optional<Imatrix> to_imatrix(const std::optional<model::Imatrix>& from) {
  if (!from) return std::nullopt;
  return Imatrix{from->file, from->dataset, from->entries, from->chunks};
}

std::optional<DraftPart> to_part(const std::optional<model::DrafterFacts>& from) {
  if (!from) return std::nullopt;
  return DraftPart{from->kind, known_or(from->block, not_said), from->target_layers,
                   known_or(from->nextn_layers, "it has none"), to_recipe(from->recipe)};
}

std::optional<Split> to_split(const std::optional<model::SplitFacts>& from) {
  if (!from) return std::nullopt;
  return Split{from->count, from->number, from->present, from->missing};
}

std::optional<RopeScaling> to_rope_scaling(const std::optional<model::RopeScaling>& from) {
  if (!from) return std::nullopt;
  return RopeScaling{from->type, known_or(from->factor, not_said),
                     known_or(from->original_context, not_said)};
}

}  // namespace

Model to_model(const model::FileFacts& facts) {
  Model model;
  model.file = file_name(facts.path);
  model.name = facts.name;
  model.architecture = facts.architecture;
  model.gguf_version = facts.gguf_version;
  model.file_bytes = facts.file_bytes;
  model.parameters = facts.parameters;
  model.bits_per_weight = bits(total_bytes(facts.recipe), facts.parameters);
  model.file_type = known_or(facts.file_type, not_said);
  model.recipe = to_recipe(facts.recipe);
  model.imatrix = known_or(to_imatrix(facts.imatrix), "the file has no trace of one");
  model.layers = known_or(facts.layers, not_said);
  model.embedding_length = known_or(facts.embedding_length, not_said);
  model.vocabulary = known_or(facts.vocabulary, not_said);
  model.context_train = known_or(facts.context_train, not_said);
  model.has_chat_template = facts.has_chat_template;
  model.sampling = facts.sampling;
  model.drafter = known_or(to_part(facts.drafter), "it is no drafter and has none in it");
  model.split = known_or(to_split(facts.split), "the model is one file");
  model.oddities = facts.oddities;
  model.synthetic = known_or(facts.synthetic, "the file does not say that it is");
  model.rope_scaling = known_or(to_rope_scaling(facts.rope_scaling), "the file names none");
  return model;
}

std::optional<std::string> recipe_gap(const Model& model) {
  if (model.recipe.empty()) return "no tensor of " + model.file + " is known";
  for (const RecipeRow& row : model.recipe)
    if (!row.bytes.value) return row.tensor_class + " is of " + row.type + ", " + row.bytes.reason;
  if (model.split.value && model.split.value->present < model.split.value->count)
    return "not all files of the split model are there";
  return std::nullopt;
}

}  // namespace paceline::document
