#include "model/drafter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "model/recipe.hpp"
#include "util/printable.hpp"

namespace paceline::model {

namespace {

constexpr std::array drafter_architectures = {"dflash", "eagle3", "gemma4-assistant"};
constexpr std::size_t most_target_layers = 64;

std::optional<int> positive(std::optional<std::int64_t> number) {
  const bool good = number && *number > 0 && std::in_range<int>(*number);
  return good ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

std::vector<int> target_layers(const Gguf& head, std::vector<std::string>& oddities) {
  const auto numbers = head.own_numbers("target_layers").value_or(std::vector<std::int64_t>{});
  const bool sane = numbers.size() <= most_target_layers &&
                    std::all_of(numbers.begin(), numbers.end(), [](std::int64_t layer) {
                      return layer >= 0 && std::in_range<int>(layer);
                    });
  if (sane) return {numbers.begin(), numbers.end()};
  oddities.push_back(head.architecture() + ".target_layers names layers that no target has");
  return {};
}

std::string dflash_kind(const Gguf& head, const std::vector<const Tensor*>& tensors) {
  const bool markov = std::any_of(tensors.begin(), tensors.end(), [](const Tensor* tensor) {
    return tensor->name == "markov_w1.weight";
  });
  if (markov) return "dspark";
  return head.own_number("selector_top_k").value_or(0) > 0 ? "dflash2" : "dflash";
}

std::set<int> prediction_blocks(const std::vector<const Tensor*>& tensors) {
  std::set<int> blocks;
  for (const Tensor* tensor : tensors) {
    const TensorPlace place = place_of(tensor->name);
    if (place.block >= 0 && place.tensor_class.starts_with("nextn.")) blocks.insert(place.block);
  }
  return blocks;
}

bool is_named_mtp(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (char& letter : name)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name.find("mtp") != std::string::npos;
}

/// Multi-token prediction needs the key and the tensors: llama.cpp runs by the key and then looks
/// for the tensors.
std::optional<DrafterFacts> find_mtp(const Gguf& head, const std::vector<const Tensor*>& tensors,
                                     std::vector<std::string>& oddities) {
  const auto key = head.own_number("nextn_predict_layers");
  const std::set<int> blocks = prediction_blocks(tensors);
  const auto said = key.value_or(0);
  const auto there = static_cast<std::int64_t>(blocks.size());
  if (said <= 0 && there == 0) {
    if (is_named_mtp(head.path()))
      oddities.emplace_back("named as a file with MTP, and has neither its key nor its tensors");
    return std::nullopt;
  }
  if (said != there)
    oddities.push_back(fmt::format(
        "{}.nextn_predict_layers is {}, but {} blocks have nextn tensors",
        util::printable(head.architecture()), key ? std::to_string(*key) : "missing", there));
  if (said <= 0 || there == 0) return std::nullopt;
  DrafterFacts facts;
  facts.kind = "mtp";
  facts.nextn_layers = static_cast<int>(std::min(said, there));
  Recipe recipe;
  for (const Tensor* tensor : tensors)
    if (blocks.contains(place_of(tensor->name).block)) recipe.add(*tensor);
  facts.recipe = recipe.groups();
  return facts;
}

}  // namespace

bool is_drafter_architecture(const std::string& architecture) {
  return std::find(drafter_architectures.begin(), drafter_architectures.end(), architecture) !=
         drafter_architectures.end();
}

std::optional<DrafterFacts> find_drafter(const Gguf& head,
                                         const std::vector<const Tensor*>& tensors,
                                         std::vector<std::string>& oddities) {
  const std::string architecture = head.architecture();
  if (!is_drafter_architecture(architecture)) return find_mtp(head, tensors, oddities);
  DrafterFacts facts;
  facts.kind = architecture == "dflash" ? dflash_kind(head, tensors) : architecture;
  facts.block = positive(head.own_number("block_size"));
  facts.target_layers = target_layers(head, oddities);
  facts.nextn_layers = positive(head.own_number("nextn_predict_layers"));
  return facts;
}

}  // namespace paceline::model
