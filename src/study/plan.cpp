#include "study/plan.hpp"

#include "study/order.hpp"
#include "util/hash.hpp"

namespace paceline::study {

std::vector<PlannedLaunch> plan(const RunOptions& options) {
  std::mt19937_64 random(options.seed + static_cast<std::uint64_t>(options.first_round));
  std::vector<PlannedLaunch> launches;
  const auto orders = balanced_orders(options.arms.size(), all_rounds(options), random);
  for (int round = 0; round < all_rounds(options); ++round) {
    const auto prompts = shuffled_indices(options.prompts.measured.size(), random);
    for (const std::size_t arm : orders[static_cast<std::size_t>(round)])
      launches.push_back(
          {options.first_round + round, arm, round == options.rounds, prompts, options.held_out});
  }
  return launches;
}

int all_rounds(const RunOptions& options) { return options.rounds + (options.phases ? 1 : 0); }

std::vector<PlannedLaunch> untimed_launches(const RunOptions& options) {
  std::vector<PlannedLaunch> launches;
  for (std::size_t arm = 0; arm < options.arms.size(); ++arm)
    if (trace::is_denominator(options.arms[arm]))
      launches.push_back({.round = options.first_round + all_rounds(options),
                          .arm = arm,
                          .synced = false,
                          .prompts = {},
                          .held_out = options.held_out});
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
