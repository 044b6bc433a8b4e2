#include "synth/walk.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synth/random.hpp"
#include "util/assert.hpp"

namespace paceline::synth {

namespace {

/// Words in the order of the walk.
std::vector<std::int32_t> cycle_of(std::uint64_t seed, std::int64_t vocabulary) {
  std::vector<std::int32_t> words(static_cast<std::size_t>(vocabulary - first_word));
  std::iota(words.begin(), words.end(), static_cast<std::int32_t>(first_word));
  for (std::size_t i = words.size(); i > 1; --i) std::swap(words[i - 1], words[mixed(seed, i) % i]);
  return words;
}

/// So many places of the cycle, drawn by the seed, in ascending order.
std::vector<std::size_t> drawn_places(std::uint64_t seed, std::size_t places, std::size_t count) {
  std::vector<std::size_t> drawn(places);
  std::iota(drawn.begin(), drawn.end(), std::size_t{0});
  std::sort(drawn.begin(), drawn.end(), [seed](std::size_t one, std::size_t other) {
    return mixed(~seed, one) < mixed(~seed, other);
  });
  drawn.resize(count);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace

Walk::Walk(std::uint64_t seed, std::int64_t vocabulary, double agreement)
    : before_(static_cast<std::size_t>(vocabulary), -1) {
  PACELINE_ASSERT(vocabulary > first_word + 1);
  const std::vector<std::int32_t> words = cycle_of(seed, vocabulary);
  const auto disagreeing = std::llround((1 - agreement) * static_cast<double>(words.size()));
  // One alone has nobody to change successors with.
  const std::vector<std::size_t> wrong =
      drawn_places(seed, words.size(), disagreeing < 2 ? 0 : static_cast<std::size_t>(disagreeing));
  const auto after = [&](std::size_t place) {
    return static_cast<std::size_t>(words[(place + 1) % words.size()]);
  };
  for (std::size_t i = 0; i < words.size(); ++i) before_[after(i)] = words[i];
  for (std::size_t i = 0; i < wrong.size(); ++i)
    before_[after(wrong[(i + 1) % wrong.size()])] = words[wrong[i]];
  share_ = 1 - static_cast<double>(wrong.size()) / static_cast<double>(words.size());
}

}  // namespace paceline::synth
