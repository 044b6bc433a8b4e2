#include "claim/readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace paceline::claim {

namespace {

using enum Figure;
using document::ClaimReading;

constexpr const char* of_drafts = "accepted / offered, every pass with a full draft";
constexpr const char* of_output = "accepted / output tokens";
constexpr const char* with_bonus = "(accepted + the target's own) / (draft_limit + 1)";
constexpr const char* length_with = "tokens per pass, the target's own included";
constexpr const char* length_without = "draft tokens per pass, the target's own left out";
constexpr const char* percentage = "accepted / offered in percent, every pass with a full draft";
constexpr double same = 0.01;

struct Meaning {
  const char* meaning;
  Range tokens;
};

/// What a mean length can mean.
std::vector<Meaning> meanings_of_length(const Range& printed) {
  return {{length_with, printed}, {length_without, exactly(1) + printed}};
}

/// All meanings that give a number at all.
std::vector<Meaning> meanings_of(const Worked& row, const Range& printed) {
  const Range one = exactly(1);
  std::vector<Meaning> found;
  const bool is_share = printed.low <= 1;
  const bool has_limit = row.has(draft_limit);
  if (is_share && has_limit && row.row.full_drafts.value_or(true))
    found.push_back({of_drafts, one + row.at(draft_limit) * printed});
  if (is_share && printed.high < 1) found.push_back({of_output, one / (one - printed)});
  if (is_share && has_limit) found.push_back({with_bonus, printed * (row.at(draft_limit) + one)});
  if (is_share) return found;
  found = meanings_of_length(printed);
  if (has_limit) found.push_back({percentage, one + row.at(draft_limit) * printed / exactly(100)});
  return found;
}

/// What speaks against it; empty: nothing.
std::string against(const Worked& row, const Range& tokens) {
  if (tokens.high < 1) return fmt::format("{} tokens per pass are fewer than one", shown(tokens));
  if (row.has(draft_limit) && tokens.low > row.at(draft_limit).high + 1)
    return fmt::format("{} tokens per pass are more than the {} of a full draft", shown(tokens),
                       shown(row.at(draft_limit) + exactly(1)));
  if (row.has(speedup) && tokens.high < row.at(speedup).low)
    return fmt::format("a pass would cost {} of a plain one, which no pass with a draft can",
                       shown(tokens / row.at(speedup)));
  const Stated* stated = row.stated(tokens_per_pass);
  if (stated != nullptr && is_apart(stated->range, tokens))
    return fmt::format("{} tokens per pass are given", shown(stated->range));
  return "";
}

ClaimReading reading_of(const Worked& row, const Meaning& one) {
  ClaimReading reading;
  reading.meaning = one.meaning;
  reading.tokens_per_pass = one.tokens.value;
  if (row.has(tokens_per_s)) reading.passes_per_s = (row.at(tokens_per_s) / one.tokens).value;
  if (row.has(speedup)) reading.pass_cost = (one.tokens / row.at(speedup)).value;
  reading.why = against(row, one.tokens);
  reading.consistent = reading.why.empty();
  return reading;
}

/// Without a draft length that is given, tokens per pass and acceptance together say one: it has to
/// be a whole number in one of the two meanings.
std::vector<ClaimReading> by_length(const Range& tokens, const Range& printed) {
  const auto reading = [&](const char* meaning, const Range& length) {
    ClaimReading one;
    one.meaning = meaning;
    one.tokens_per_pass = tokens.value;
    one.consistent = std::floor(length.high) >= std::ceil(length.low) && length.low > 0;
    one.why = fmt::format("the draft length would be {}{}", shown(length),
                          one.consistent ? "" : ", which is no whole number");
    return one;
  };
  return {reading(of_drafts, (tokens - exactly(1)) / printed),
          reading(with_bonus, tokens / printed - exactly(1))};
}

std::vector<ClaimReading> readings_of(const Worked& row, const std::vector<Meaning>& meanings) {
  std::vector<ClaimReading> readings;
  for (const Meaning& one : meanings) readings.push_back(reading_of(row, one));
  return readings;
}

std::vector<ClaimReading> readings_of(const Worked& row) {
  if (const Stated* length = row.stated(accepted_per_pass))
    return readings_of(row, meanings_of_length(length->range));
  const Stated* printed = row.stated(acceptance);
  if (printed == nullptr || !printed->definition.empty() || !(printed->range.low > 0)) return {};
  if (printed->range.low > 1 && is_percent(*printed)) return {};
  if (row.has(accepted) || row.row.full_drafts == true) {
    if (printed->range.low <= 1) return {};
  }
  if (!row.has(draft_limit) && printed->range.high <= 1)
    for (const Figure length : {tokens_per_pass, acceptance_length})
      if (const Stated* stated = row.stated(length))
        return by_length(stated->range, printed->range);
  auto readings = readings_of(row, meanings_of(row, printed->range));
  if (!row.has(draft_limit) && row.row.full_drafts.value_or(true) && printed->range.low <= 1) {
    readings.emplace_back();
    readings.back().meaning = of_drafts;
    readings.back().why = "nothing follows from it without the draft limit";
  }
  return readings;
}

/// How much a figure of one meaning varies over rows: the greatest over the least.
struct Spread {
  double least = 0;
  double greatest = 0;
  int rows = 0;

  void add(double value) {
    least = rows == 0 ? value : std::min(least, value);
    greatest = rows == 0 ? value : std::max(greatest, value);
    ++rows;
  }
};

/// Passes cost the same whatever is accepted, so the meaning that keeps them alike is likelier.
void name_steadiest(std::vector<ClaimReading*>& group) {
  std::map<std::string, Spread> spreads;
  for (const ClaimReading* one : group)
    if (const auto cost = one->pass_cost ? one->pass_cost : one->passes_per_s; cost && *cost > 0)
      spreads[one->meaning].add(*cost);
  if (spreads.size() < 2) return;
  for (ClaimReading* one : group) {
    const auto found = spreads.find(one->meaning);
    if (found == spreads.end() || found->second.rows < 3 || !one->consistent) continue;
    const double own = found->second.greatest / found->second.least;
    const bool steadiest = std::all_of(spreads.begin(), spreads.end(), [&](const auto& other) {
      return other.second.greatest / other.second.least >= own - same;
    });
    if (!one->why.empty()) one->why += "; ";
    one->why +=
        fmt::format("over {} rows the cost of a pass varies by {:.0f} %{}", found->second.rows,
                    100 * (own - 1), steadiest ? ", the least of all meanings" : "");
  }
}

}  // namespace

void find_readings(std::vector<Worked>& rows, std::vector<std::vector<ClaimReading>>& readings) {
  readings.clear();
  for (const Worked& row : rows) readings.push_back(readings_of(row));
  std::map<int, std::vector<ClaimReading*>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (ClaimReading& one : readings[i]) groups[rows[i].row.group].push_back(&one);
  for (auto& [group, of_group] : groups) name_steadiest(of_group);
}

}  // namespace paceline::claim
