#include "study/order.hpp"

#include <numeric>
#include <utility>

namespace paceline::study {

namespace {

/// std::shuffle differs between standard libraries; a recorded seed must not.
void shuffle(std::vector<std::size_t>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

/// Rows of a Williams design: in all of them together each thing stands at every place equally
/// often, and follows every other equally often, so that what one leaves behind (heat, caches)
/// does not always meet the same next one. An odd number of them needs the mirrored rows too.
std::vector<std::vector<std::size_t>> williams_rows(std::size_t things) {
  std::vector<std::vector<std::size_t>> rows;
  for (std::size_t turn = 0; turn < things; ++turn) {
    std::vector<std::size_t> row;
    for (std::size_t i = 0; i < things; ++i) {
      const std::size_t zigzag = i % 2 == 1 ? (i + 1) / 2 : (things - i / 2) % things;
      row.push_back((zigzag + turn) % things);
    }
    rows.push_back(row);
    if (things % 2 == 1) rows.emplace_back(row.rbegin(), row.rend());
  }
  return rows;
}

}  // namespace

std::vector<std::size_t> shuffled_indices(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> items(count);
  std::iota(items.begin(), items.end(), std::size_t{0});
  shuffle(items, random);
  return items;
}

// The rows of the design in random order, of things in random roles.
std::vector<std::vector<std::size_t>> balanced_orders(std::size_t things, int rounds,
                                                      std::mt19937_64& random) {
  const auto rows = williams_rows(things);
  std::vector<std::vector<std::size_t>> orders;
  while (orders.size() < static_cast<std::size_t>(rounds)) {
    const auto roles = shuffled_indices(things, random);
    for (const std::size_t row : shuffled_indices(rows.size(), random)) {
      auto order = rows[row];
      for (auto& thing : order) thing = roles[thing];
      orders.push_back(std::move(order));
    }
  }
  orders.resize(static_cast<std::size_t>(rounds));
  return orders;
}

}  // namespace paceline::study
