#include "study/plan.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "util/hash.hpp"

namespace paceline::study {

namespace {

/// std::shuffle differs between standard libraries; a recorded seed must not.
void shuffle(std::vector<std::size_t>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

std::vector<std::size_t> shuffled_indices(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> items(count);
  std::iota(items.begin(), items.end(), std::size_t{0});
  shuffle(items, random);
  return items;
}

/// Rows of a Williams design: in all of them together every arm stands at every place equally
/// often, and follows every other arm equally often, so that what one leaves behind (heat, caches)
/// does not always meet the same next one. An odd number of arms needs the mirrored rows too.
std::vector<std::vector<std::size_t>> williams_rows(std::size_t arms) {
  std::vector<std::vector<std::size_t>> rows;
  for (std::size_t turn = 0; turn < arms; ++turn) {
    std::vector<std::size_t> row;
    for (std::size_t i = 0; i < arms; ++i) {
      const std::size_t zigzag = i % 2 == 1 ? (i + 1) / 2 : (arms - i / 2) % arms;
      row.push_back((zigzag + turn) % arms);
    }
    rows.push_back(row);
    if (arms % 2 == 1) rows.emplace_back(row.rbegin(), row.rend());
  }
  return rows;
}

/// Orders of the arms for `rounds` rounds: the rows in random order, of arms in random roles.
std::vector<std::vector<std::size_t>> balanced_orders(std::size_t arms, int rounds,
                                                      std::mt19937_64& random) {
  const auto rows = williams_rows(arms);
  std::vector<std::vector<std::size_t>> orders;
  while (orders.size() < static_cast<std::size_t>(rounds)) {
    const auto roles = shuffled_indices(arms, random);
    for (const std::size_t row : shuffled_indices(rows.size(), random)) {
      auto order = rows[row];
      for (auto& arm : order) arm = roles[arm];
      orders.push_back(std::move(order));
    }
  }
  orders.resize(static_cast<std::size_t>(rounds));
  return orders;
}

}  // namespace

std::vector<PlannedLaunch> plan(const RunOptions& options) {
  std::mt19937_64 random(options.seed);
  std::vector<PlannedLaunch> launches;
  const int all_rounds = options.rounds + (options.phases ? 1 : 0);
  const auto orders = balanced_orders(options.arms.size(), all_rounds, random);
  for (int round = 0; round < all_rounds; ++round) {
    const auto prompts = shuffled_indices(options.prompts.measured.size(), random);
    for (const std::size_t arm : orders[static_cast<std::size_t>(round)])
      launches.push_back({round, arm, round == options.rounds, prompts});
  }
  return launches;
}

std::uint32_t request_seed(std::uint64_t seed, const std::string& prompt_id, int round) {
  std::uint64_t hash = util::fnv1a(prompt_id, util::fnv1a_start ^ seed);
  std::string round_bytes;
  for (int shift = 0; shift < 32; shift += 8)
    round_bytes.push_back(static_cast<char>(static_cast<unsigned>(round) >> shift & 0xff));
  hash = util::fnv1a(round_bytes, hash);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace paceline::study
