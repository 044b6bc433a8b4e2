#include "metrics/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "metrics/draft_lengths.hpp"
#include "metrics/ranking.hpp"
#include "metrics/rates.hpp"
#include "metrics/sample.hpp"
#include "metrics/weighted.hpp"

namespace paceline::metrics {

namespace {

/// Whether a mix of several classes has one that loops: then they do not compare (DEFINITIONS 7).
bool loops_somewhere(const MixSamples& samples) {
  return samples.size() > 1 && std::any_of(samples.begin(), samples.end(), [](const auto& item) {
           return loops(item.second.pooled());
         });
}

std::optional<Candidate> candidate_of(const std::string& arm, const MixSamples& samples,
                                      const trace::Mix& mix) {
  const auto seconds = per_token(samples, mix, decode_seconds);
  if (!seconds) return std::nullopt;
  return Candidate{arm, 1 / seconds->value, scaled(-1, seconds->strata), n_eff_of(samples)};
}

/// One arm of the sweep while its figures are made.
struct Entry {
  const trace::Arm* arm = nullptr;
  MixSamples samples;
  std::optional<Candidate> candidate;
};

int last_round(const trace::Trace& trace, std::string_view arm) {
  int last = -1;
  for (const auto& launch : trace.launches)
    if (launch.arm == arm && trace::is_headline(launch, trace.header))
      last = std::max(last, launch.round);
  return last;
}

std::set<std::string> points_in(const trace::Trace& trace, int round) {
  std::set<std::string> names;
  for (const auto& point : trace.header.sweep->points)
    for (const auto& launch : trace.launches)
      if (launch.arm == point.arm && launch.round == round) names.insert(point.arm);
  return names;
}

/// The points that went on to the last round in which all that had room in it were launched: a run
/// that is stopped within a rung has left nothing out by it. Before the first one all are left.
std::set<std::string> survivors(const trace::Trace& trace) {
  const trace::Sweep& sweep = *trace.header.sweep;
  if (sweep.method == trace::SweepMethod::halving)
    for (std::size_t round = sweep.rungs.size(); round-- > 0;)
      if (auto names = points_in(trace, static_cast<int>(round));
          std::cmp_greater_equal(names.size(), sweep.rungs[round]))
        return names;
  std::set<std::string> all;
  for (const auto& point : sweep.points) all.insert(point.arm);
  return all;
}

void fill_counts(SweepCell& cell, const Entry& entry, const trace::Mix& mix) {
  Counts total;
  for (const auto& [name, sample] : entry.samples) {
    add(total, sample.pooled());
    cell.launches = std::max(cell.launches, static_cast<int>(sample.rounds.size()));
  }
  const auto seconds = per_token(entry.samples, mix, decode_seconds);
  const auto passes = per_token(entry.samples, mix, pass_count);
  if (seconds && passes) {
    cell.passes_per_s = passes->value / seconds->value;
    cell.tokens_per_pass = 1 / passes->value;
  }
  if (total.offered > 0 && total.accepted.known())
    cell.acceptance = total.accepted.number() / total.offered.number();
  if (total.passes_speculative > 0 && total.offered.known())
    cell.draft_per_pass = total.offered.number() / total.passes_speculative.number();
}

/// A sweep's arms by name, those that are ranked cut down to the prompts and rounds they all have.
class RankedArms {
 public:
  RankedArms(const trace::Trace& trace, const trace::Mix& mix)
      : trace_(trace), mix_(mix), ranked_(survivors(trace)) {
    for (const auto& arm : trace.header.arms)
      entries_[arm.name] = {&arm, collect_mix(trace, arm.name, mix), {}};
    for (auto& [name, entry] : entries_) entry.candidate = candidate_of(name, entry.samples, mix);
    std::erase_if(ranked_, [&](const auto& name) { return !entries_.at(name).candidate; });
    for (const auto& name : std::set(ranked_))
      if (const auto plain = entries_.find(entries_.at(name).arm->plain);
          plain != entries_.end() && plain->second.candidate)
        pool_.insert(plain->first);
    pool_.insert(ranked_.begin(), ranked_.end());
    share();
  }

  const Entry& at(const std::string& name) const { return entries_.at(name); }
  bool is_ranked(const std::string& name) const { return ranked_.contains(name); }
  /// The plain arm that it is held against; null without one.
  const Entry* plain_of(const std::string& name) const {
    const auto& arm = *at(name).arm;
    return trace::is_denominator(arm) || !pool_.contains(arm.plain) ? nullptr : &at(arm.plain);
  }
  std::vector<Candidate> ranked() const { return candidates(ranked_); }
  /// Of one launch, from all that were pooled for it.
  LaunchVariance launches() const {
    const auto pool = candidates(pool_);
    const auto rounds = pool.front().strata.front().deviations.launches;
    return pool.size() > 1 && rounds > 1 ? pooled_launch_variance(pool) : LaunchVariance{0, 1};
  }
  std::string looping() const {
    for (const auto& name : ranked_)
      if (loops_somewhere(at(name).samples)) return name;
    return "";
  }

 private:
  std::vector<Candidate> candidates(const std::set<std::string>& names) const {
    std::vector<Candidate> found;
    for (const auto& name : names) found.push_back(*at(name).candidate);
    return found;
  }
  void share() {
    if (pool_.empty()) return;
    MixSamples common = at(*pool_.begin()).samples;
    for (const auto& name : pool_) shrink(common, at(name).samples);
    for (const auto& name : pool_) {
      auto& entry = entries_.at(name);
      shrink(entry.samples, common);
      entry.candidate = candidate_of(name, entry.samples, mix_);
    }
    for (auto* names : {&ranked_, &pool_})
      std::erase_if(*names, [&](const auto& name) { return !at(name).candidate; });
  }

  const trace::Trace& trace_;
  const trace::Mix& mix_;
  std::map<std::string, Entry> entries_;
  std::set<std::string> ranked_;
  std::set<std::string> pool_;  ///< the ranked and their plain arms
};

SweepCell to_cell(const trace::Trace& trace, const trace::Mix& mix, const RankedArms& arms,
                  const std::string& name) {
  SweepCell cell;
  cell.arm = name;
  const Entry& entry = arms.at(name);
  fill_counts(cell, entry, mix);
  const std::string unranked = "not measured in every round";
  cell.tokens_per_s = cell.speedup = cell.against_best = unknown(unranked);
  if (entry.candidate) {
    cell.tokens_per_s.value = entry.candidate->speed;
    if (!arms.is_ranked(name)) {
      cell.left_out_after = last_round(trace, name);
      cell.tokens_per_s.reason = fmt::format("left out after round {}, as one of the slower half",
                                             *cell.left_out_after + 1);
      cell.speedup = cell.against_best = unknown(cell.tokens_per_s.reason);
    }
  } else {
    cell.tokens_per_s = cell.speedup = cell.against_best = unknown("no launch gave a figure");
  }
  return cell;
}

void compare_cells(SweepSummary& summary, const RankedArms& arms) {
  const auto ranked = arms.ranked();
  const auto speedups = static_cast<std::size_t>(std::count_if(
      ranked.begin(), ranked.end(),
      [&](const Candidate& candidate) { return arms.plain_of(candidate.name) != nullptr; }));
  const LaunchVariance launches = arms.launches();
  const Ranking ranking = rank(ranked, launches);
  summary.best = ranked[ranking.best].name;
  summary.no_set = ranking.reason;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    auto& cell = *std::find_if(summary.cells.begin(), summary.cells.end(),
                               [&](const auto& one) { return one.arm == ranked[i].name; });
    cell.tokens_per_s = simultaneous_speed(ranked[i], ranked.size());
    const Entry* plain = arms.plain_of(cell.arm);
    cell.speedup =
        plain ? simultaneous_ratio(ranked[i], *plain->candidate, launches, speedups)
              : unknown(trace::is_denominator(*arms.at(cell.arm).arm) ? "this is a plain arm"
                                                                      : "no plain arm");
    cell.against_best = unknown(ranking.reason);
    if (ranking.standings.empty()) continue;
    cell.against_best = ranking.standings[i].against_best;
    cell.in_best_set = ranking.standings[i].in_best_set;
  }
}

/// The mix's figures of one arm, with ordinary intervals: one arm was chosen before, by other
/// prompts.
void fill_held_out(HeldOut& held_out, const MixSamples& winner, const MixSamples& plain,
                   const trace::Mix& mix) {
  const auto seconds = per_token(winner, mix, decode_seconds);
  const auto passes = per_token(winner, mix, pass_count);
  const double n_eff = n_eff_of(winner);
  held_out.tokens_per_s =
      with_interval(1 / seconds->value, Scale::log, scaled(-1, seconds->strata), n_eff);
  held_out.passes_per_s = held_out.tokens_per_pass = unknown("no passes were recorded");
  if (passes) {
    held_out.passes_per_s = with_interval(passes->value / seconds->value, Scale::log,
                                          difference(passes->strata, seconds->strata), n_eff);
    held_out.tokens_per_pass =
        with_interval(1 / passes->value, Scale::log, scaled(-1, passes->strata), n_eff);
  }
  held_out.speedup = plain.empty() ? unknown("no plain arm was measured beside it")
                                   : mix_speedup(winner, plain, mix);
}

void summarise_held_out(SweepSummary& summary, const trace::Trace& trace, const trace::Mix& mix) {
  const auto part = held_out_part(trace);
  summary.no_held_out = trace.header.sweep->no_held_out;
  if (part.header.arms.empty()) {
    if (summary.no_held_out.empty())
      summary.no_held_out = "the run ended before the winner was measured again";
    return;
  }
  const auto& arm = part.header.arms.back();
  auto winner = collect_mix(part, arm.name, mix);
  auto plain = collect_mix(part, arm.plain, mix);
  if (trace::find_arm(part.header.arms, arm.plain) && !trace::is_denominator(arm)) {
    shrink(winner, plain);
    shrink(plain, winner);
  } else {
    plain.clear();
  }
  if (!per_token(winner, mix, decode_seconds)) {
    summary.no_held_out = "no held-out prompt was done in every launch";
    return;
  }
  HeldOut held_out;
  held_out.arm = arm.name;
  for (const auto& [name, sample] : winner) {
    held_out.prompts += static_cast<int>(sample.prompts.size());
    held_out.launches = std::max(held_out.launches, static_cast<int>(sample.rounds.size()));
  }
  fill_held_out(held_out, winner, plain, mix);
  summary.held_out = std::move(held_out);
}

}  // namespace

std::optional<double> mix_speed(const trace::Trace& trace, std::string_view arm,
                                const trace::Mix& mix) {
  const auto candidate = candidate_of(std::string(arm), collect_mix(trace, arm, mix), mix);
  if (!candidate) return std::nullopt;
  return candidate->speed;
}

trace::Trace held_out_part(const trace::Trace& trace) {
  trace::Trace part;
  part.header = trace.header;
  part.header.sweep.reset();
  part.header.arms.clear();
  part.interrupted = trace.interrupted;
  for (const auto& launch : trace.launches) {
    if (!launch.held_out) continue;
    part.launches.push_back(launch);
    part.launches.back().held_out = false;
    part.launches.back().round -= trace.header.rounds;
  }
  for (const auto& arm : trace.header.arms)
    if (std::any_of(part.launches.begin(), part.launches.end(),
                    [&](const auto& launch) { return launch.arm == arm.name; }))
      part.header.arms.push_back(arm);
  std::stable_partition(part.header.arms.begin(), part.header.arms.end(), trace::is_denominator);
  if (trace.header.sweep) part.header.rounds = trace.header.sweep->held_out_rounds;
  return part;
}

std::optional<SweepSummary> summarise_sweep(const trace::Trace& trace, const trace::Mix& mix) {
  if (!trace.header.sweep) return std::nullopt;
  SweepSummary summary;
  const RankedArms arms(trace, mix);
  for (const auto& point : trace.header.sweep->points)
    summary.cells.push_back(to_cell(trace, mix, arms, point.arm));
  if (const auto looping = arms.looping(); !looping.empty())
    summary.no_set = fmt::format(
        "a class loops on {}: its speed does not compare with that of "
        "other classes",
        looping);
  else if (arms.ranked().empty())
    summary.no_set = "no point has a speed";
  else
    compare_cells(summary, arms);
  fill_draft_lengths(summary, trace.header, [&](std::size_t one, std::size_t other) {
    const auto& cells = summary.cells;
    return summary.no_set.empty() && is_surely_faster(*arms.at(cells[one].arm).candidate,
                                                      *arms.at(cells[other].arm).candidate,
                                                      arms.launches(), arms.ranked().size());
  });
  summarise_held_out(summary, trace, mix);
  return summary;
}

}  // namespace paceline::metrics
