#pragma once

#include <optional>
#include <string>

#include "model/gguf.hpp"

namespace paceline::model {

/// What is wrong with the lists of the tokenizer, as far as their types and lengths go: token types
/// and scores have to match the tokens one by one. The tokens themselves are not looked at.
std::optional<std::string> vocabulary_problem(const Gguf& head);

}  // namespace paceline::model
