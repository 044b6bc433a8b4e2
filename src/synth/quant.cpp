#include "synth/quant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/recipe.hpp"
#include "model/tensor_type.hpp"

namespace paceline::synth {

namespace {

constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t f16 = 1;
constexpr std::int64_t no_number = -1;

/// A type that matrices can be quantised to.
struct Quantisable {
  std::string_view name;
  std::string_view fallback;  ///< where rows do not divide into its blocks; empty: F16
  std::int64_t file_type = no_number;
};

constexpr std::array quantisable = {
    Quantisable{"f32", "", 0},
    Quantisable{"f16", "", 1},
    Quantisable{"bf16", "", 32},
    Quantisable{"q4_0", "", 2},
    Quantisable{"q4_1", "", 3},
    Quantisable{"q5_0", "", 8},
    Quantisable{"q5_1", "", 9},
    Quantisable{"q8_0", "", 7},
    Quantisable{"q2_K", "q4_0", 21},
    Quantisable{"q3_K", "q4_0", 11},
    Quantisable{"q4_K", "q5_0", 14},
    Quantisable{"q5_K", "q5_1", 16},
    Quantisable{"q6_K", "q8_0", 18},
    Quantisable{"iq2_xxs", "iq4_nl", 19},
    Quantisable{"iq2_xs", "iq4_nl", 20},
    Quantisable{"iq2_s", "iq4_nl", 28},
    Quantisable{"iq3_xxs", "iq4_nl", 23},
    Quantisable{"iq3_s", "iq4_nl", 26},
    Quantisable{"iq1_s", "iq4_nl", 24},
    Quantisable{"iq1_m", "iq4_nl", 31},
    Quantisable{"iq4_nl", "", 25},
    Quantisable{"iq4_xs", "iq4_nl", 30},
    Quantisable{"tq1_0", "q4_0", 36},
    Quantisable{"tq2_0", "q4_0", 37},
    Quantisable{"mxfp4", "", 38},
    Quantisable{"nvfp4", "", 39},
    Quantisable{"q1_0", "", 40},
    Quantisable{"q2_0", "q4_0", 41},
};

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& letter : made)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return made;
}

const Quantisable* find_quantisable(std::string_view name) {
  const auto* found = std::find_if(
      quantisable.begin(), quantisable.end(),
      [&](const Quantisable& candidate) { return lower(candidate.name) == lower(name); });
  return found == quantisable.end() ? nullptr : found;
}

std::uint32_t type_named(std::string_view name) {
  for (const model::TensorType& type : model::tensor_types())
    if (type.name == name) return type.id;
  return f16;
}

bool fits(std::uint32_t type, std::int64_t columns) {
  return columns % static_cast<std::int64_t>(model::find_tensor_type(type)->block) == 0;
}

/// The type that a matrix of such rows is really stored as.
std::uint32_t fitting(const Quantisable& asked, std::int64_t columns) {
  const std::uint32_t type = type_named(asked.name);
  if (fits(type, columns)) return type;
  const std::uint32_t fallback = asked.fallback.empty() ? f16 : type_named(asked.fallback);
  return fits(fallback, columns) ? fallback : f16;
}

util::Result<const Quantisable*> asked_type(const std::string& name) {
  if (const Quantisable* found = find_quantisable(name)) return found;
  return util::fail(util::ErrorKind::usage,
                    fmt::format("'{}' is no type to store weights as: take one of {}", name,
                                fmt::join(quant_names(), ", ")));
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

}  // namespace

const char* class_of(const std::string& tensor_name) {
  const std::string name = model::place_of(tensor_name).tensor_class;
  if (starts_with_any(name, {"token_embd", "per_layer_token_embd"})) return "embedding";
  if (name == "output" || name == "nextn.shared_head_head") return "output";
  if (name.ends_with("_exps")) return "experts";
  if (name.ends_with("_conv_proj")) return "other";
  if (starts_with_any(name, {"ffn_"})) return "feed-forward";
  if (starts_with_any(name, {"attn_", "indexer."})) return "attention";
  if (starts_with_any(name, {"ssm_"})) return "recurrent";
  return "other";
}

std::vector<std::string> quant_names() {
  std::vector<std::string> names;
  for (const Quantisable& type : quantisable) names.emplace_back(type.name);
  return names;
}

std::optional<std::uint32_t> quant_of_name(std::string_view name) {
  const Quantisable* found = find_quantisable(name);
  return found == nullptr ? std::nullopt : std::optional(type_named(found->name));
}

bool stays_f32(const TensorPlan& tensor) {
  const auto has = [&](std::string_view part) {
    return tensor.name.find(part) != std::string::npos;
  };
  return tensor.rows() == 1 || !tensor.name.ends_with(".weight") || has("_norm.weight") ||
         has("ffn_gate_inp.weight") || has("conv1d") || has("indexer.");
}

util::Result<void> choose_types(const std::string& quant,
                                const std::map<std::string, std::string>& quant_of, Plan& plan) {
  PACELINE_TRY_ASSIGN(const Quantisable* const common, asked_type(quant));
  std::map<std::string_view, const Quantisable*> by_class;
  for (const char* name : tensor_classes) by_class[name] = common;
  for (const auto& [name, type] : quant_of) {
    const auto found = by_class.find(name);
    if (found == by_class.end())
      return util::fail(util::ErrorKind::usage,
                        fmt::format("'{}' is no class of tensors: take one of {}", name,
                                    fmt::join(tensor_classes, ", ")));
    PACELINE_TRY_ASSIGN(found->second, asked_type(type));
  }
  std::map<std::string, std::set<std::string>> replaced;  // by what is said of them
  for (TensorPlan& tensor : plan.tensors) {
    if (stays_f32(tensor)) {
      tensor.type = f32;
      continue;
    }
    const Quantisable& asked = *by_class[class_of(tensor.name)];
    tensor.type = fitting(asked, tensor.columns());
    if (tensor.type != type_named(asked.name))
      replaced[fmt::format("rows of {} are no whole blocks of {}: stored as {}", tensor.columns(),
                           asked.name, model::tensor_type_name(tensor.type))]
          .insert(model::place_of(tensor.name).tensor_class);
  }
  for (const auto& [what, classes] : replaced)
    plan.notes.push_back(fmt::format("{} ({})", what, fmt::join(classes, ", ")));
  return {};
}

std::uint32_t file_type_of(std::uint32_t type) {
  const Quantisable* found = find_quantisable(model::tensor_type_name(type));
  return found == nullptr ? f16 : static_cast<std::uint32_t>(found->file_type);
}

}  // namespace paceline::synth
