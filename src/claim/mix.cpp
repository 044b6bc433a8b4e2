#include "claim/mix.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "metrics/arithmetic.hpp"

namespace paceline::claim {

namespace {

using enum Figure;

/// Group, arm, model, quant, drafter and draft limit: the shares of one arm make one mix.
using Arm = std::tuple<int, std::string, std::string, std::string, std::string, std::string>;

Arm arm_of(const Row& row) {
  const Stated* limit = row.find(draft_limit);
  return {row.group,
          context_of(row, "arm"),
          context_of(row, "model"),
          context_of(row, "quant"),
          context_of(row, "drafter"),
          limit == nullptr ? "" : shown(limit->range)};
}

/// By their places.
using Members = std::vector<std::size_t>;

struct Pat {
  Range pat;
  Range mean;  ///< of the rates, which is none
};

bool says_why_not(const std::vector<Worked>& rows, const Members& members, document::Claim& claim) {
  bool any = false;
  for (const std::size_t i : members) {
    const bool has_speed = rows[i].has(tokens_per_s) && rows[i].at(tokens_per_s).low > 0;
    if (has_speed && members.size() > 1) continue;
    claim.rows[i].not_derived.push_back(
        {name_of(pat_decode), has_speed ? "no other class of its mix is given"
                                        : "no tokens_per_s stands beside its share of the mix"});
    any = true;
  }
  return any;
}

std::optional<Pat> pat_of(const std::vector<Worked>& rows, const Members& members,
                          document::Claim& claim) {
  if (says_why_not(rows, members, claim)) return std::nullopt;
  Range whole = exactly(0);
  Range seconds = exactly(0);
  Range mean = exactly(0);
  std::vector<metrics::ClassRate> classes;
  for (const std::size_t i : members) {
    const Range& weight = rows[i].at(share);
    const Range& rate = rows[i].at(tokens_per_s);
    whole = whole + weight;
    seconds = seconds + weight / rate;
    mean = mean + weight * rate;
    classes.push_back({middle(weight), middle(rate)});
  }
  const std::string& first = rows[members.front()].row.label;
  if (is_apart(whole, exactly(1))) {
    claim.contradictions.push_back(
        {"mix", first, fmt::format("the shares of the mix add up to {}, not to 1", shown(whole)),
         middle(whole), 1});
    return std::nullopt;
  }
  Range pat = exactly(1) / seconds;
  if (pat.value) pat.value = metrics::predictability_adjusted(classes);
  claim.across.push_back(
      to_derived(pat_decode, pat,
                 fmt::format("1 / sum(share / tokens_per_s) of {} rows, \"{}\" the first; the mean "
                             "of the rates would say {}",
                             members.size(), first, shown(middle(mean))),
                 {share, tokens_per_s}));
  return Pat{pat, mean};
}

void hold_stated(const std::vector<Worked>& rows, const std::map<Arm, Pat>& pats,
                 document::Claim& claim) {
  for (const Worked& row : rows) {
    const Stated* said = row.stated(pat_decode);
    if (said == nullptr) continue;
    auto found = pats.find(arm_of(row.row));
    if (found == pats.end() && pats.size() == 1) found = pats.begin();
    if (found == pats.end() || !is_apart(said->range, found->second.pat)) continue;
    const auto& [pat, mean] = found->second;
    claim.contradictions.push_back(
        {"mix", row.row.label,
         fmt::format("pat_decode is given as {}, but 1 / sum(share / tokens_per_s) is {}{}",
                     shown(said->range), shown(pat),
                     is_apart(said->range, mean)
                         ? ""
                         : "; the mean of the rates, which is no rate of the mix, is that number"),
         middle(said->range), middle(pat)});
  }
}

}  // namespace

void find_mixes(const std::vector<Worked>& rows, document::Claim& claim) {
  std::map<Arm, Members> arms;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].has(share)) arms[arm_of(rows[i].row)].push_back(i);
  std::map<Arm, Pat> pats;
  for (const auto& [arm, members] : arms)
    if (const auto pat = pat_of(rows, members, claim)) pats.emplace(arm, *pat);
  hold_stated(rows, pats, claim);
}

}  // namespace paceline::claim
