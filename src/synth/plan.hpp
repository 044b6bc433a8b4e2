#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/job.hpp"
#include "synth/shape.hpp"
#include "util/result.hpp"

namespace paceline::synth {

/// What stands in a tensor. `words` and `next_words` are the two ends of a walk (walk.hpp): a row
/// of its own for each token, and at each token's place the row of the token before it.
enum class Fill { random, constant, negative, words, next_words, left_half };

/// One tensor of the file, ggml's dimensions first to last.
struct TensorPlan {
  std::string name;
  std::vector<std::int64_t> dimensions;
  std::uint32_t type = 0;  ///< ggml's number
  Fill fill = Fill::random;
  double value = 0;      ///< of `constant`; of the others their standard deviation
  double agreement = 1;  ///< of `next_words`: share of tokens that are followed as in the target

  std::int64_t columns() const { return dimensions.front(); }
  std::int64_t rows() const;
  std::uint64_t bytes() const;
};

/// A key of the file's head, without those of the tokenizer.
struct Key {
  std::string name;
  std::variant<std::uint32_t, std::uint64_t, float, bool, std::string, std::vector<std::uint32_t>,
               std::vector<std::uint64_t>, std::vector<bool>>
      value;
};

/// All that a file of random weights will be, before a byte of it is made.
struct Plan {
  std::string architecture;
  Shape shape;
  std::vector<Key> keys;
  std::vector<TensorPlan> tensors;
  std::uint64_t seed = 1;
  std::uint64_t walk = 1;          ///< seed of the walk, which a drafter has from its target
  std::string tokenizer_of;        ///< file to take the tokenizer from; empty: our own
  std::string made_as;             ///< one line that says what this is
  std::vector<std::string> notes;  ///< what the user should know: assumptions, other types

  std::uint64_t parameters() const;
  /// Of the tensors; the head of the file comes on top.
  std::uint64_t bytes() const;
};

/// Names that `architecture` of a job takes: models first, then drafters.
std::vector<std::string> model_kinds();
std::vector<std::string> drafter_kinds();

/// What the job asks for, or why it cannot be made. Reads the head of the target of a drafter.
util::Result<Plan> plan(const protocol::Invent& job);

}  // namespace paceline::synth
