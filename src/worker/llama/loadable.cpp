#include "worker/llama/loadable.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "model/drafter.hpp"
#include "model/split.hpp"
#include "model/tensor_type.hpp"
#include "model/vocabulary.hpp"
#include "util/printable.hpp"
#include "worker/llama/refuse.hpp"

namespace paceline::worker {

namespace {

constexpr std::int64_t most_layers = 512;    // LLAMA_MAX_LAYERS: more abort it
constexpr std::int64_t most_experts = 1024;  // LLAMA_MAX_EXPERTS: likewise
constexpr std::int64_t largest_count = 1 << 30;

/// Per-layer values: a list has to have one for each layer, and no value may be absurd.
constexpr std::array per_layer_keys = {"attention.head_count", "attention.head_count_kv",
                                       "feed_forward_length", "expert_used_count"};
constexpr std::array size_keys = {"embedding_length", "context_length"};

std::string shown(const model::Gguf& file) { return util::printable(file.path()); }

util::Result<void> check_tensors(const model::Gguf& file) {
  for (const model::Tensor& tensor : file.tensors())
    if (!tensor.bytes)
      return refuse(
          "'{}' holds tensor '{}' of {}, which this llama.cpp cannot compute with: "
          "quantise the model to another type.",
          shown(file), util::printable(tensor.name), model::tensor_type_name(tensor.type));
  return {};
}

util::Result<void> check_split(const model::Gguf& file) {
  const auto set = model::find_split(file);
  const auto& facts = set.facts;
  if (!facts) return {};
  if (facts->number != 1)
    return refuse("'{}' is file {} of {} of a split model: name its first file.", shown(file),
                  facts->number, facts->count);
  if (facts->present < facts->count && facts->missing.empty())
    return refuse("'{}' is the first of {} files, and not all of them can be used: {}.",
                  shown(file), facts->count,
                  set.oddities.empty() ? "they do not fit" : set.oddities.front());
  if (facts->present < facts->count)
    return refuse(
        "'{}' is the first of {} files, of which {} are there{}{}: fetch the others into "
        "the same folder.",
        shown(file), facts->count, facts->present, facts->missing.empty() ? "" : "; missing is ",
        facts->missing.empty() ? "" : facts->missing.front());
  return {};
}

util::Result<void> check_layers(const model::Gguf& file) {
  const std::string own = util::printable(file.architecture()) + ".";
  const auto layers = file.own_number("block_count");
  if (!layers || *layers < 1 || *layers > most_layers)
    return refuse("'{}' says {}block_count {}, and a model has 1 to {} layers: convert it again.",
                  shown(file), own, layers ? std::to_string(*layers) : "nothing", most_layers);
  const std::int64_t nextn = file.own_number("nextn_predict_layers").value_or(0);
  if (nextn < 0 || nextn > *layers)
    return refuse("'{}' says {}nextn_predict_layers {} of {} layers: convert it again.",
                  shown(file), own, nextn, *layers);
  for (const char* key : per_layer_keys) {
    const model::Array* list = file.array(file.architecture() + "." + key);
    const auto count = list == nullptr ? *layers : static_cast<std::int64_t>(list->count);
    // Some architectures leave the prediction blocks out.
    if (count != *layers && count != *layers - nextn)
      return refuse("'{}' has {} values of {}{} for {} layers: convert it again.", shown(file),
                    count, own, key, *layers);
  }
  return {};
}

/// The largest value of a key that is one number or one for each layer.
std::optional<std::int64_t> largest(const model::Gguf& file, const char* key) {
  if (const auto number = file.own_number(key)) return number;
  const auto numbers = file.own_numbers(key);
  if (!numbers || numbers->empty()) return std::nullopt;
  return *std::max_element(numbers->begin(), numbers->end());
}

util::Result<void> check_sizes(const model::Gguf& file) {
  const std::string own = util::printable(file.architecture()) + ".";
  for (const char* key : size_keys) {
    const auto size = file.own_number(key);
    if (size && (*size < 1 || *size > largest_count))
      return refuse("'{}' says {}{} {}, which no model has: convert it again.", shown(file), own,
                    key, *size);
  }
  const auto heads = largest(file, "attention.head_count");
  if (heads && (*heads < 0 || *heads > largest_count))
    return refuse("'{}' says {}attention.head_count {}, which no model has: convert it again.",
                  shown(file), own, *heads);
  return {};
}

util::Result<void> check_experts(const model::Gguf& file) {
  const std::string own = util::printable(file.architecture()) + ".";
  const std::int64_t experts = file.own_number("expert_count").value_or(0);
  const std::int64_t used = largest(file, "expert_used_count").value_or(0);
  const std::int64_t groups = file.own_number("expert_group_count").value_or(0);
  const bool fits = experts >= 0 && experts <= most_experts && used >= 0 && used <= experts &&
                    (experts == 0 || used > 0) && groups >= 0 &&
                    (groups == 0 || (groups < experts && experts % groups == 0));
  if (fits) return {};
  return refuse(
      "'{}' says {}expert_count {}, of which {} are used in {} groups, which does not fit: "
      "convert it again.",
      shown(file), own, experts, used, groups);
}

}  // namespace

util::Result<void> check_loadable(const model::Gguf& file) {
  PACELINE_TRY(check_split(file));
  if (file.architecture().empty())
    return refuse("'{}' does not say its architecture (general.architecture): convert it again.",
                  shown(file));
  PACELINE_TRY(check_tensors(file));
  PACELINE_TRY(check_layers(file));
  PACELINE_TRY(check_sizes(file));
  PACELINE_TRY(check_experts(file));
  if (const auto problem = model::vocabulary_problem(file))
    return refuse("'{}' has a damaged tokenizer: {}; convert it again.", shown(file), *problem);
  return {};
}

util::Result<void> check_target(const model::Gguf& file) {
  if (model::is_drafter_architecture(file.architecture()))
    return refuse(
        "'{}' is a drafter (architecture {}) and cannot run by itself: name it with -md "
        "and its target with -m.",
        shown(file), util::printable(file.architecture()));
  return check_loadable(file);
}

}  // namespace paceline::worker
