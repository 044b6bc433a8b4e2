#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/file_facts.hpp"
#include "model/gguf.hpp"

namespace paceline::model {

/// What makes a model a drafter or a target with one in it, by its keys and its tensors; nothing
/// for an ordinary model. Where keys and tensors disagree, `oddities` gets a sentence.
std::optional<DrafterFacts> find_drafter(const Gguf& head,
                                         const std::vector<const Tensor*>& tensors,
                                         std::vector<std::string>& oddities);

/// True for the architectures that only draft for another model and cannot be a target.
bool is_drafter_architecture(const std::string& architecture);

}  // namespace paceline::model
