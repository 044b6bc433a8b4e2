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
constexpr std::int64_t default_block = 16;  // llama.cpp's own when the file does not say
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

bool is_markov_head(const Tensor& tensor) { return tensor.name == "markov_w1.weight"; }

std::string kind_of(const Gguf& head, bool markov_head) {
  if (markov_head) return "dspark";
  return head.own_number("selector_top_k").value_or(0) > 0 ? "dflash2" : "dflash";
}

std::int64_t longest_draft(std::int64_t block, const Gguf& head, const std::string& kind) {
  const bool from_anchor =
      kind == "dspark" && head.flag("dflash.sample_from_anchor").value_or(true);
  return from_anchor ? block : block - 1;
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

std::string dflash_kind(const Gguf& head) {
  return kind_of(head, std::any_of(head.tensors().begin(), head.tensors().end(), is_markov_head));
}

Block block_of(const Gguf& head) {
  const std::int64_t size = head.own_number("block_size").value_or(default_block);
  return {.size = size, .longest_draft = longest_draft(size, head, dflash_kind(head))};
}

bool is_drafter_architecture(const std::string& architecture) {
  return std::find(drafter_architectures.begin(), drafter_architectures.end(), architecture) !=
         drafter_architectures.end();
}

bool hands_out_layers(std::string_view architecture) {
  // Those whose graphs keep them (t_layer_inp); no function of the library tells.
  static constexpr std::array layers_handed_out = {
      "bailingmoe3",   "deepseek4",    "gemma4",    "gpt-oss",    "hunyuan_vl",
      "hunyuan-dense", "lfm2",         "lfm2moe",   "llama",      "minimax-01",
      "minimax-m2",    "muse-glimmer", "nanbeige",  "nemotron_h", "nemotron_h_moe",
      "qwen3",         "qwen35",       "qwen35moe", "qwen3moe",   "qwen3next"};
  return std::find(layers_handed_out.begin(), layers_handed_out.end(), architecture) !=
         layers_handed_out.end();
}

std::optional<DrafterFacts> find_drafter(const Gguf& head,
                                         const std::vector<const Tensor*>& tensors,
                                         std::vector<std::string>& oddities) {
  const std::string architecture = head.architecture();
  if (!is_drafter_architecture(architecture)) return find_mtp(head, tensors, oddities);
  DrafterFacts facts;
  const bool markov_head = std::any_of(
      tensors.begin(), tensors.end(), [](const Tensor* tensor) { return is_markov_head(*tensor); });
  facts.kind = architecture == "dflash" ? kind_of(head, markov_head) : architecture;
  facts.block = positive(head.own_number("block_size"));
  if (facts.block) facts.longest_draft = positive(longest_draft(*facts.block, head, facts.kind));
  facts.target_layers = target_layers(head, oddities);
  facts.nextn_layers = positive(head.own_number("nextn_predict_layers"));
  return facts;
}

}  // namespace paceline::model
