#include "metrics/widths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "metrics/arithmetic.hpp"
#include "metrics/interval.hpp"
#include "util/result.hpp"

namespace paceline::metrics {

namespace {

constexpr double seconds_per_ns = 1e-9;
using trace::Nanoseconds;

std::optional<double> median_of(std::vector<double> values) {
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

std::vector<double> in_seconds(const std::vector<Nanoseconds>& times) {
  std::vector<double> seconds;
  for (const auto time : times) seconds.push_back(static_cast<double>(time) * seconds_per_ns);
  return seconds;
}

std::vector<const trace::Launch*> probed_launches(const trace::Trace& trace, std::string_view arm) {
  std::vector<const trace::Launch*> launches;
  for (const auto& launch : trace.launches)
    if (launch.arm == arm && !launch.widths.empty()) launches.push_back(&launch);
  std::sort(launches.begin(), launches.end(),
            [](const auto* a, const auto* b) { return a->index < b->index; });
  return launches;
}

using WidthKey = std::pair<int, int>;  // depth, width
using Times = std::vector<Nanoseconds> trace::WidthTime::*;

/// The median of each launch that has it.
std::vector<double> launch_medians(const std::vector<const trace::Launch*>& launches, WidthKey key,
                                   Times times) {
  std::vector<double> medians;
  for (const auto* launch : launches) {
    std::vector<double> seconds;
    for (const auto& probe : launch->widths) {
      if (WidthKey{probe.depth, probe.width} != key) continue;
      const auto more = in_seconds(probe.*times);
      seconds.insert(seconds.end(), more.begin(), more.end());
    }
    if (const auto middle = median_of(seconds)) medians.push_back(*middle);
  }
  return medians;
}

/// What one launch's probes say of a pass; every probe at one depth.
struct ProbedLaunch {
  std::map<int, double> verify_s;
  std::map<int, double> draft_s;
  std::map<int, double> process_s;
  std::optional<double> any_draft_s;  ///< over all widths
};

util::Result<ProbedLaunch> read_probes(const trace::Launch& launch) {
  std::set<int> depths;
  std::set<int> widths;
  std::vector<double> drafts;
  for (const auto& probe : launch.widths) {
    depths.insert(probe.depth);
    widths.insert(probe.width);
    const auto more = in_seconds(probe.draft_ns);
    drafts.insert(drafts.end(), more.begin(), more.end());
  }
  if (depths.size() > 1)
    return util::fail(util::ErrorKind::not_enough_data, "widths were probed at several depths");
  ProbedLaunch probed;
  probed.any_draft_s = median_of(drafts);
  for (const int width : widths) {
    const auto keep = [&](std::map<int, double>& into, Times times) {
      const auto values = launch_medians({&launch}, {*depths.begin(), width}, times);
      if (!values.empty()) into[width] = values.front();
    };
    keep(probed.verify_s, &trace::WidthTime::verify_ns);
    keep(probed.draft_s, &trace::WidthTime::draft_ns);
    keep(probed.process_s, &trace::WidthTime::process_ns);
  }
  return probed;
}

/// Block drafters and MTP compute the whole draft and cut it afterwards, so that a draft costs the
/// same at every width: any probe's draft stands in where this width has none.
std::optional<double> draft_seconds(const ProbedLaunch& probed, int width) {
  const auto found = probed.draft_s.find(width);
  return found == probed.draft_s.end() ? probed.any_draft_s : found->second;
}

/// Mean probed seconds of the passes counted.
util::Result<double> mean_pass_seconds(const ProbedLaunch& probed, const Counts& counts) {
  double total = 0;
  for (const auto& [width, passes] : counts.widths) {
    const auto verify = probed.verify_s.find(width);
    if (verify == probed.verify_s.end())
      return util::fail(util::ErrorKind::not_enough_data,
                        fmt::format("width {} was not probed on this arm", width));
    total += static_cast<double>(passes) * verify->second;
    const auto process = probed.process_s.find(width);
    if (process != probed.process_s.end()) total += static_cast<double>(passes) * process->second;
  }
  for (const auto& [width, passes] : counts.attempted_widths) {
    const auto draft = draft_seconds(probed, width);
    if (!draft)
      return util::fail(
          util::ErrorKind::not_enough_data,
          "drafts were not timed apart from the text: n-grams have none apart from it");
    total += static_cast<double>(passes) * *draft;
  }
  return total / counts.passes.number();
}

const trace::Launch* launch_of_round(const std::vector<const trace::Launch*>& launches, int round) {
  const auto found = std::find_if(launches.begin(), launches.end(),
                                  [round](const auto* launch) { return launch->round == round; });
  return found == launches.end() ? nullptr : *found;
}

util::Result<double> cost_in_round(const trace::Launch& launch, const trace::Launch& plain,
                                   const Counts& counts) {
  PACELINE_TRY_ASSIGN(const auto probed, read_probes(launch));
  PACELINE_TRY_ASSIGN(const auto base, read_probes(plain));
  if (launch.widths.front().depth != plain.widths.front().depth)
    return util::fail(util::ErrorKind::not_enough_data,
                      "this arm and plain were probed at different depths");
  const auto narrow = base.verify_s.find(1);
  if (narrow == base.verify_s.end() || !(narrow->second > 0))
    return util::fail(util::ErrorKind::not_enough_data, "width 1 was not probed on the plain arm");
  PACELINE_TRY_ASSIGN(const double seconds, mean_pass_seconds(probed, counts));
  return seconds / narrow->second;
}

bool has_several_drafters(const trace::Trace& trace, std::string_view name) {
  return std::any_of(
      trace.header.arms.begin(), trace.header.arms.end(),
      [name](const trace::Arm& arm) { return arm.name == name && !arm.setup.asked_first.empty(); });
}

std::map<int, double> median_by_width(const std::vector<const trace::Launch*>& launches,
                                      Times times) {
  std::map<int, std::vector<double>> medians;
  std::set<WidthKey> keys;
  for (const auto* launch : launches)
    for (const auto& probe : launch->widths) keys.insert({probe.depth, probe.width});
  for (const auto& key : keys) {
    const auto more = launch_medians(launches, key, times);
    auto& of_width = medians[key.second];
    of_width.insert(of_width.end(), more.begin(), more.end());
  }
  std::map<int, double> result;
  for (const auto& [width, values] : medians)
    if (const auto middle = median_of(values)) result[width] = *middle;
  return result;
}

}  // namespace

std::optional<WidthCurve> width_curve(const trace::Trace& trace, std::string_view arm) {
  const auto launches = probed_launches(trace, arm);
  if (launches.empty()) return std::nullopt;
  WidthCurve curve;
  curve.arm = arm;
  std::set<WidthKey> keys;
  for (const auto* launch : launches)
    for (const auto& probe : launch->widths) keys.insert({probe.depth, probe.width});
  for (const auto& key : keys) {
    WidthCost cost;
    cost.depth = key.first;
    cost.width = key.second;
    cost.verify_s = over_launches(launch_medians(launches, key, &trace::WidthTime::verify_ns));
    if (!curve.widths.empty()) {
      const auto& narrower = curve.widths.back();
      if (narrower.depth == cost.depth && narrower.verify_s.value && cost.verify_s.value)
        cost.step = *cost.verify_s.value / *narrower.verify_s.value;
    }
    curve.widths.push_back(std::move(cost));
  }
  curve.draft_s = median_by_width(launches, &trace::WidthTime::draft_ns);
  curve.process_s = median_by_width(launches, &trace::WidthTime::process_ns);
  return curve;
}

Estimate pass_cost_from_widths(const trace::Trace& trace, std::string_view arm,
                               std::string_view plain, const Counts& counts) {
  if (!counts.passes.known()) return unknown(counts.passes.reason());
  if (counts.passes == 0) return unknown("no passes were recorded");
  if (has_several_drafters(trace, arm))
    return unknown("what a draft costs depends on which of the arm's drafters made it");
  const auto arm_launches = probed_launches(trace, arm);
  const auto plain_launches = probed_launches(trace, plain);
  if (arm_launches.empty())
    return unknown(
        "passes of chosen widths were not timed: no server can be told to, and a probe may fail");
  std::vector<double> costs;
  std::set<int> rounds;
  for (const auto* launch : arm_launches) {
    const auto* base = launch_of_round(plain_launches, launch->round);
    if (base == nullptr || !rounds.insert(launch->round).second) continue;
    const auto cost = cost_in_round(*launch, *base, counts);
    if (!cost) return unknown(cost.error().message);
    costs.push_back(*cost);
  }
  if (costs.empty()) return unknown("width 1 was not probed on the plain arm in the same round");
  return over_launches(costs);
}

}  // namespace paceline::metrics
