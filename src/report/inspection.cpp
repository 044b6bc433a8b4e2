#include "report/inspection.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/format.hpp"
#include "report/wrap.hpp"
#include "util/printable.hpp"
#include "util/text_table.hpp"

namespace paceline::report {

namespace {

using document::Model;
using util::Align;
using util::printable;

constexpr std::size_t label_width = 16;

std::string line(const char* label, const std::string& text, const Style& style) {
  return labelled(label, text, label_width, style.width);
}

std::string number(const char* thing, const document::Known<int>& count) {
  return fmt::format("{} {}", thing,
                     count.value ? std::to_string(*count.value) : std::string("unknown"));
}

std::string shape_text(const Model& model) {
  const std::string architecture = printable(model.architecture);
  return fmt::format(
      "{}; {}, {}, {}, {}{}", architecture.empty() ? "none" : architecture,
      number("layers", model.layers), number("width", model.embedding_length),
      number("vocabulary", model.vocabulary), number("context in training", model.context_train),
      model.rope_scaling.value ? ", rope scaling " + printable(model.rope_scaling.value->type)
                               : "");
}

std::string size_text(const Model& model) {
  std::string text = fmt::format("{} ({} bytes), {} weights", bytes(model.file_bytes),
                                 model.file_bytes, short_count(model.parameters));
  if (model.bits_per_weight.value)
    text += ", " + figure(*model.bits_per_weight.value) + " bits per weight";
  return text + fmt::format("; GGUF version {}, calls itself {}", model.gguf_version,
                            model.file_type.value ? printable(*model.file_type.value) : "nothing");
}

std::string imatrix_text(const Model& model) {
  if (!model.imatrix.value) return "no trace of one";
  const document::Imatrix& imatrix = *model.imatrix.value;
  std::vector<std::string> parts;
  if (imatrix.file) parts.push_back("file " + printable(*imatrix.file));
  if (imatrix.dataset) parts.push_back("data set " + printable(*imatrix.dataset));
  if (imatrix.entries) parts.push_back(fmt::format("{} entries", *imatrix.entries));
  if (imatrix.chunks) parts.push_back(fmt::format("{} chunks", *imatrix.chunks));
  return "yes: " + listed(parts);
}

std::string sampling_text(const Model& model) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : model.sampling)
    parts.push_back(printable(key) + " " + printable(value));
  return parts.empty() ? "the file asks for none" : listed(parts);
}

std::string counted_blocks(int count) {
  return fmt::format("{} {}", count, count == 1 ? "block" : "blocks");
}

std::string drafter_text(const Model& model) {
  if (!model.drafter.value) return model.drafter.reason;
  const document::DraftPart& part = *model.drafter.value;
  std::string text = printable(part.kind);
  if (part.block.value) text += fmt::format(", block of {} tokens", *part.block.value);
  if (part.nextn_layers.value)
    text += fmt::format(", {} of its own", counted_blocks(*part.nextn_layers.value));
  std::vector<std::string> layers;
  for (const int layer : part.target_layers) layers.push_back(std::to_string(layer));
  if (!layers.empty()) text += ", reads the inputs of target layers " + listed(layers);
  return text +
         (part.recipe.empty() ? "; the whole file is the drafter" : "; in the target's file");
}

std::string split_text(const Model& model) {
  if (!model.split.value) return model.split.reason;
  const document::Split& split = *model.split.value;
  std::string text =
      fmt::format("file {} of {}, {} are there", split.number, split.count, split.present);
  std::vector<std::string> missing;
  for (const auto& name : split.missing) missing.push_back(printable(name));
  return missing.empty() ? text : text + "; missing: " + listed(missing);
}

std::string exceptions_text(const std::vector<document::RecipeRow>& recipe) {
  std::vector<std::string> parts;
  for (const auto& row : recipe)
    if (row.exception)
      parts.push_back(fmt::format("{} is {}{}", printable(row.tensor_class), printable(row.type),
                                  row.blocks.empty() ? "" : " in blk " + printable(row.blocks)));
  return parts.empty() ? "none: each class has one type" : listed(parts);
}

std::string table(const std::vector<document::RecipeRow>& recipe, const Style& style) {
  util::TextTable table;
  table.add_column("class", Align::left);
  table.add_column("type", Align::left);
  for (const char* heading : {"tensors", "weights", "bytes", "bits/weight"})
    table.add_column(heading, Align::right);
  table.add_column("blocks", Align::left);
  for (const auto& row : recipe)
    table.add_row(
        {{printable(row.tensor_class)},
         {printable(row.type), row.exception ? util::Emphasis::bad : util::Emphasis::none},
         {std::to_string(row.tensors)},
         {short_count(row.elements)},
         {row.bytes.value ? bytes(*row.bytes.value) : "unknown"},
         {row.bits_per_weight.value ? figure(*row.bits_per_weight.value) : "unknown"},
         {printable(row.blocks)}});
  return table.render(2, style.colour);
}

}  // namespace

std::string inspection(const document::Inspection& inspection, const Style& style) {
  const Model& model = inspection.model;
  std::string text = util::emphasised(printable(model.file), util::Emphasis::heading, style.colour);
  if (!model.name.empty()) text += "  \"" + printable(model.name) + "\"";
  text += "\n" + line("architecture", shape_text(model), style);
  text += line("size", size_text(model), style);
  text += line("imatrix", imatrix_text(model), style);
  text += line("chat template", model.has_chat_template ? "yes" : "no", style);
  text += line("sampling", sampling_text(model), style);
  text += line("drafter", drafter_text(model), style);
  if (model.synthetic.value)
    text += line("SYNTHETIC",
                 "random weights, " + printable(*model.synthetic.value) +
                     "; its text and acceptance mean nothing",
                 style);
  text += line("files", split_text(model), style);
  text += line("exceptions", exceptions_text(model.recipe), style);
  for (std::size_t i = 0; i < model.oddities.size(); ++i)
    text += line(i == 0 ? "odd" : "", printable(model.oddities[i]), style);
  text += "\n" + table(model.recipe, style);
  if (model.drafter.value && !model.drafter.value->recipe.empty())
    text += "\n  Of these the drafter's own:\n" + table(model.drafter.value->recipe, style);
  return text;
}

}  // namespace paceline::report
