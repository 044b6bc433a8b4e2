#include "model/vocabulary.hpp"

#include <fmt/format.h>

namespace paceline::model {

namespace {

constexpr const char* tokens_key = "tokenizer.ggml.tokens";

/// A list beside the tokens, of one of two types.
std::optional<std::string> list_problem(const Gguf& head, const char* key, std::uint64_t tokens,
                                        ValueType type, ValueType other) {
  if (head.find(key) == nullptr) return std::nullopt;
  const Array* list = head.array(key);
  if (list == nullptr || (list->type != type && list->type != other))
    return fmt::format("{} is not the kind of list that it has to be", key);
  if (list->count != tokens)
    return fmt::format("{} has {} elements for {} tokens", key, list->count, tokens);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> vocabulary_problem(const Gguf& head) {
  if (head.find(tokens_key) == nullptr) return std::nullopt;
  const Array* tokens = head.array(tokens_key);
  if (tokens == nullptr || tokens->type != ValueType::string)
    return fmt::format("{} is not a list of texts", tokens_key);
  if (auto problem = list_problem(head, "tokenizer.ggml.token_type", tokens->count, ValueType::i32,
                                  ValueType::i32))
    return problem;
  return list_problem(head, "tokenizer.ggml.scores", tokens->count, ValueType::f32, ValueType::i32);
}

}  // namespace paceline::model
