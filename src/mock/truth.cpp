#include "mock/truth.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "util/hash.hpp"

namespace paceline::mock {

namespace {

constexpr std::array<const char*, 32> words = {
    " the",  " of",   " and",  " to",   " in",  " is",   " that", " it",   " was", " for", " on",
    " are",  " as",   " with", " his",  " at",  " be",   " this", " have", ",",    ".",    "\n",
    " from", " word", " not",  " what", " all", " were", " we",   " when", " can", " said"};
constexpr std::int32_t first_word = 100;
constexpr const char* euro_begin = "\xE2\x82";  // the two tokens of one character
constexpr const char* euro_end = "\xAC";
constexpr std::int32_t euro_begin_id = 50;
constexpr std::int32_t euro_end_id = 51;

/// SplitMix64's finisher: every bit of the result depends on every bit of `value`.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

/// What chance gives at a place, from 0 to below 1; the same for the same place.
class Chance {
 public:
  Chance(std::uint64_t seed, std::string_view prompt) : base_(mixed(seed ^ util::fnv1a(prompt))) {}

  std::uint64_t bits(std::uint64_t stream, std::uint64_t at) const {
    return mixed(base_ ^ mixed(stream * 0x10001u + at));
  }
  double share(std::uint64_t stream, std::uint64_t at) const {
    return static_cast<double>(bits(stream, at) >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t base_;
};

Token token_at(const Truth& truth, const Chance& chance, int index) {
  const int every = truth.split_every;
  if (every >= 2 && index % every == every - 1) return {euro_begin_id, euro_begin};
  if (every >= 2 && index % every == 0 && index > 0) return {euro_end_id, euro_end};
  const auto word = chance.bits(0, static_cast<std::uint64_t>(index)) % words.size();
  return {first_word + static_cast<std::int32_t>(word), words[word]};
}

/// How many of the first positions of a draft the target agrees with.
int accepted_by_chance(const Truth& truth, const Chance& chance, int offered, std::size_t pass) {
  int accepted = 0;
  while (accepted < offered && !truth.acceptance.empty()) {
    const auto position = static_cast<std::size_t>(accepted);
    const double rate = truth.acceptance[std::min(position, truth.acceptance.size() - 1)];
    if (chance.share(2 + position, pass) >= rate) break;
    ++accepted;
  }
  return accepted;
}

/// The draft of a pass before anything limits it.
Round proposed(const Truth& truth, const Chance& chance, std::size_t pass) {
  if (!truth.speculates) return {};
  if (!truth.rounds.empty()) return truth.rounds[pass % truth.rounds.size()];
  if (chance.share(1, pass) >= truth.fire_rate) return {};
  Round round;
  round.offered = truth.draft_length;
  round.accepted = accepted_by_chance(truth, chance, round.offered, pass);
  round.replays = truth.replays && round.accepted < round.offered ? 1 : 0;
  return round;
}

/// The draft cut so that it and the target's own token do not go past the limit.
Round capped(Round round, int remaining) {
  if (round.offered < remaining) return round;
  round.offered = remaining - 1;
  round.accepted = std::min(round.accepted, round.offered);
  if (round.accepted == round.offered) round.replays = 0;
  return round;
}

/// What becomes of a draft when `remaining` tokens are left of the text.
Pass pass_of(const Round& round, int remaining) {
  Pass pass;
  pass.offered = round.offered;
  pass.accepted = std::min(round.accepted, round.offered);
  pass.replays = round.offered > 0 ? round.replays : 0;
  // A replay's draft ends with the target's own token, and it adds one of its own.
  const int sampled = pass.accepted + 1 + (pass.replays > 0 ? 1 : 0);
  pass.emitted = std::min(sampled, remaining);
  pass.overshoot = sampled - pass.emitted;
  return pass;
}

template <class Member>
long total(const std::vector<Pass>& passes, Member member) {
  return std::accumulate(passes.begin(), passes.end(), 0L,
                         [&](long sum, const Pass& pass) { return sum + member(pass); });
}

std::vector<long> reached(const std::vector<Pass>& passes, int Pass::*count) {
  std::vector<long> at;
  for (const Pass& pass : passes) {
    at.resize(std::max(at.size(), static_cast<std::size_t>(pass.offered)));
    for (int i = 0; i < pass.*count; ++i) ++at[static_cast<std::size_t>(i)];
  }
  return at;
}

void plan_prompt(const Truth& truth, int tokens, Plan& plan) {
  plan.prompt_truncated = tokens > truth.context_per_slot;
  plan.prompt_tokens = std::min(tokens, truth.context_per_slot);
  plan.prompt_cached = std::clamp(truth.cached_tokens, 0, plan.prompt_tokens - 1);
  plan.prompt_processed = plan.prompt_tokens - plan.prompt_cached;
  const int batch = std::max(truth.prompt_batch, 1);
  plan.prompt_batches = (plan.prompt_processed + batch - 1) / batch;
}

}  // namespace

long Plan::passes_speculative() const {
  return total(passes, [](const Pass& pass) { return pass.offered > 0 ? 1 : 0; });
}
long Plan::passes_plain() const { return static_cast<long>(passes.size()) - passes_speculative(); }
long Plan::passes_replay() const {
  return total(passes, [](const Pass& pass) { return pass.replays; });
}
long Plan::target_passes() const { return static_cast<long>(passes.size()) + passes_replay(); }
long Plan::superseded() const {
  return total(passes, [](const Pass& pass) { return std::max(pass.replays - 1, 0); });
}
long Plan::offered() const {
  return total(passes, [](const Pass& pass) { return pass.offered; });
}
long Plan::accepted() const {
  return total(passes, [](const Pass& pass) { return pass.accepted; });
}
long Plan::overshoot() const {
  return total(passes, [](const Pass& pass) { return pass.overshoot; });
}
std::vector<long> Plan::offered_at() const { return reached(passes, &Pass::offered); }
std::vector<long> Plan::accepted_at() const { return reached(passes, &Pass::accepted); }

std::vector<long> Plan::accepted_lengths() const {
  std::vector<long> lengths;
  for (const Pass& pass : passes) {
    if (pass.offered == 0) continue;
    lengths.resize(std::max(lengths.size(), static_cast<std::size_t>(pass.offered) + 1));
    ++lengths[static_cast<std::size_t>(pass.accepted)];
  }
  return lengths;
}

std::string Plan::text() const {
  std::string text;
  for (const Token& token : tokens) text += token.text;
  return text;
}

int count_prompt(const Truth& truth, std::string_view prompt) {
  if (truth.prompt_tokens) return std::max(*truth.prompt_tokens, 1);
  return static_cast<int>(std::max<std::size_t>((prompt.size() + 3) / 4, 1));
}

Plan plan(const Truth& truth, std::string_view prompt, const Limits& limits) {
  return plan(truth, prompt, count_prompt(truth, prompt), limits);
}

Plan plan(const Truth& truth, std::string_view prompt, int prompt_tokens, const Limits& limits) {
  const Chance chance(truth.seed, prompt);
  Plan plan;
  plan_prompt(truth, std::max(prompt_tokens, 1), plan);
  const int room = std::max(truth.context_per_slot - plan.prompt_tokens, 1);
  const int limit =
      limits.tokens && *limits.tokens >= 0 ? std::clamp(*limits.tokens, 1, room) : room;
  const bool ends = truth.eos_after && !limits.ignore_eos && *truth.eos_after <= limit;
  const int length = ends ? std::max(*truth.eos_after, 1) : limit;

  for (int i = 0; i < length; ++i) plan.tokens.push_back(token_at(truth, chance, i));
  if (ends) plan.tokens.back() = {end_token, ""};
  plan.ended_by_token = ends;
  for (int done = 1; done < length;) {
    // A draft knows the limit but not where the text will end.
    Round round = proposed(truth, chance, plan.passes.size());
    if (truth.draft_capped) round = capped(round, limit - done);
    plan.passes.push_back(pass_of(round, length - done));
    done += plan.passes.back().emitted;
  }
  return plan;
}

}  // namespace paceline::mock
