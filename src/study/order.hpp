#pragma once

#include <cstddef>
#include <random>
#include <vector>

// Random orders that follow from a seed alone, on every standard library.

namespace paceline::study {

/// 0 .. count - 1 in random order.
std::vector<std::size_t> shuffled_indices(std::size_t count, std::mt19937_64& random);

/// Orders of `things` for so many rounds: over the rounds each stands at every place, and follows
/// every other, as equally often as their number allows.
std::vector<std::vector<std::size_t>> balanced_orders(std::size_t things, int rounds,
                                                      std::mt19937_64& random);

}  // namespace paceline::study
