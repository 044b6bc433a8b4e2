#pragma once

#include <cstdint>
#include <vector>

namespace paceline::synth {

/// The first token that is a word: before it are special tokens and single bytes.
inline constexpr std::int64_t first_word = 4 + 256;

/// The text of a synthetic model is a walk: all words in one cycle, whose order a seed decides. The
/// head's row of a word is the embedding's row of the word before it, so that of all logits this
/// word's is by far the largest. Special tokens and bytes are before no word and after none.
///
/// A draft model goes the same way from a share of the words. The others it sends to the
/// successor of another one of them, never to the right one, so that each word is still the
/// successor of just one.
class Walk {
 public:
  /// `agreement` is the share of words that are followed as in the walk of the same seed with 1.
  Walk(std::uint64_t seed, std::int64_t vocabulary, double agreement);

  /// The token before each token; -1 of those that follow none.
  const std::vector<std::int32_t>& before() const { return before_; }

  /// Words that are followed as with agreement 1, over all words.
  double share_agreeing() const { return share_; }

 private:
  std::vector<std::int32_t> before_;
  double share_ = 1;
};

}  // namespace paceline::synth
