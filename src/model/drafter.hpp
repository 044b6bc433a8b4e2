#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/file_facts.hpp"
#include "model/gguf.hpp"

namespace paceline::model {

/// What makes a model a drafter or a target with one in it, by its keys and its tensors; nothing
/// for an ordinary model. Where keys and tensors disagree, `oddities` gets a sentence.
std::optional<DrafterFacts> find_drafter(const Gguf& head,
                                         const std::vector<const Tensor*>& tensors,
                                         std::vector<std::string>& oddities);

/// The kind of a drafter of architecture dflash: "dflash", "dflash2" or "dspark".
std::string dflash_kind(const Gguf& head);

/// The block that a drafter of architecture dflash fills at once, in tokens.
struct Block {
  std::int64_t size = 0;
  std::int64_t longest_draft =
      0;  ///< the block, unless its first row predicts nothing: then less 1
};

/// As llama.cpp reads it from the file's keys, its own size where the file says none.
Block block_of(const Gguf& head);

/// True for the architectures whose layers' inputs llama.cpp v0.5.0 hands out in a shape that
/// drafters read (DFlash, DSpark, EAGLE3).
bool hands_out_layers(std::string_view architecture);

/// True for the architectures that only draft for another model and cannot be a target.
bool is_drafter_architecture(const std::string& architecture);

}  // namespace paceline::model
