#include "metrics/predicted_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace paceline::metrics {

namespace {

constexpr double seconds_per_ns = 1e-9;
constexpr double nominal_s = 1;

using Way = std::pair<double, int>;  // p-min, longest draft

Way way_of(const trace::Drafting& drafting) { return {drafting.p_min, drafting.n_max}; }

enum class PassClass { plain, drafted, replay };

PassClass class_of(const trace::Pass& pass) {
  if (pass.kind == trace::PassKind::replay) return PassClass::replay;
  return pass.attempts > 0 ? PassClass::drafted : PassClass::plain;
}

struct Mean {
  double sum = 0;
  long count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return sum / static_cast<double>(count); }
};

/// Seconds of a pass by class and width, as they were timed.
class Costs {
 public:
  void add(const trace::Request& request) {
    for (const trace::Pass& pass : request.passes)
      means_[{class_of(pass), pass.width}].add(static_cast<double>(pass.ended_ns - pass.began_ns) *
                                               seconds_per_ns);
  }

  bool empty() const { return means_.empty(); }

  /// The mean of its class and width, else of the nearest width of its class, else of any class.
  double seconds(const trace::Pass& pass) const {
    const auto distance = [&](const Key& key) {
      return std::pair(key.first != class_of(pass), std::abs(key.second - pass.width));
    };
    return std::min_element(means_.begin(), means_.end(),
                            [&](const auto& one, const auto& other) {
                              return distance(one.first) < distance(other.first);
                            })
        ->second.value();
  }

 private:
  using Key = std::pair<PassClass, int>;
  std::map<Key, Mean> means_;
};

/// Costs of every way of drafting of one arm in one round.
using ArmCosts = std::map<Way, Costs>;

bool is_timed(const trace::Launch& launch, const trace::Request& request,
              const trace::Header& header) {
  return trace::is_headline(launch, header) && !request.warm_up &&
         request.outcome.kind == trace::OutcomeKind::done;
}

/// Of one round, or (`others`) of all but that one.
ArmCosts costs_of(const trace::Trace& mapped, const std::string& arm, int round,
                  bool others = false) {
  ArmCosts costs;
  for (const auto& launch : mapped.launches)
    for (const auto& request : launch.requests)
      if (launch.arm == arm && (launch.round == round) != others &&
          is_timed(launch, request, mapped.header))
        costs[way_of(request.drafting.value_or(trace::Drafting{}))].add(request);
  std::erase_if(costs, [](const auto& entry) { return entry.second.empty(); });
  return costs;
}

std::vector<const trace::DraftMap*> maps_of(const trace::Trace& mapped, const std::string& arm) {
  std::vector<const trace::DraftMap*> maps;
  for (const auto& launch : mapped.launches)
    if (launch.arm == arm)
      for (const auto& map : launch.maps)
        if (map.reason.empty()) maps.push_back(&map);
  return maps;
}

/// Ways of drafting that all maps of an arm can be walked in.
std::set<Way> ways_of(const std::vector<const trace::DraftMap*>& maps) {
  std::set<Way> ways;
  if (maps.empty()) return ways;
  for (const auto& ask : maps.front()->asks) {
    const bool all_shorter = maps.front()->kind == trace::MapKind::one_ask;
    for (int n = all_shorter ? 1 : ask.drafting.n_max; n <= ask.drafting.n_max; ++n)
      ways.insert({ask.drafting.p_min, n});
  }
  return ways;
}

std::string name_of(const std::string& arm, const Way& way) {
  std::string name = fmt::format("{}-n{}", arm, way.second);
  if (way.first > 0) name += fmt::format("-p{}", way.first);
  return name;
}

/// A request of an arm without a drafter along the same text.
trace::Request plain_request(const trace::DraftMap& map, const WalkRules& rules) {
  trace::DraftMap nothing = map;
  nothing.kind = trace::MapKind::one_ask;
  nothing.asks.assign(1, {});
  for (int place = 0; std::cmp_less(place, map.tokens.size()); ++place) {
    nothing.asks.front().places.push_back(place);
    nothing.asks.front().offered.push_back(0);
    nothing.asks.front().accepted.push_back(0);
  }
  trace::Request request = *walk(nothing, {}, rules);
  for (trace::Pass& pass : request.passes) pass.attempts = 0;
  return request;
}

class Prediction {
 public:
  explicit Prediction(const trace::Trace& mapped) : mapped_(mapped) {
    run_.trace.header = mapped.header;
    run_.trace.header.force_text = true;
    run_.trace.header.arms.clear();
    run_.has_times = mapped.header.rounds > 0;
    run_.trace.header.rounds = std::max(1, mapped.header.rounds);
  }

  PredictedRun make() {
    for (const auto& arm : mapped_.header.arms)
      if (trace::is_denominator(arm)) add_plain(arm);
    for (const auto& arm : mapped_.header.arms)
      if (!trace::is_denominator(arm)) add_drafter(arm);
    return std::move(run_);
  }

 private:
  /// Along the texts of the first arm that has maps.
  void add_plain(const trace::Arm& plain) {
    run_.trace.header.arms.push_back(plain);
    plain_ = plain.name;
    const auto with_maps =
        std::find_if(mapped_.header.arms.begin(), mapped_.header.arms.end(),
                     [&](const auto& arm) { return !maps_of(mapped_, arm.name).empty(); });
    if (with_maps == mapped_.header.arms.end()) return;
    const WalkRules rules = rules_of(mapped_, with_maps->name);
    for (int round = 0; round < run_.trace.header.rounds; ++round) {
      const ArmCosts costs = costs_of(mapped_, plain.name, round);
      if (run_.has_times && costs.empty()) continue;
      trace::Launch& launch = add_launch(plain.name, round);
      for (const auto* map : maps_of(mapped_, with_maps->name))
        add_request(launch, plain_request(*map, rules), {}, seconds_in(costs));
    }
  }

  void add_drafter(const trace::Arm& mapped_arm) {
    const auto maps = maps_of(mapped_, mapped_arm.name);
    for (const Way& way : ways_of(maps)) {
      const trace::Drafting drafting{way.second, way.first};
      const std::string name = name_of(mapped_arm.name, way);
      add_arm(mapped_arm, name, drafting);
      for (int round = 0; round < run_.trace.header.rounds; ++round) {
        const ArmCosts costs = costs_of(mapped_, mapped_arm.name, round);
        if (run_.has_times && !costs.contains(way)) continue;
        trace::Launch& launch = add_launch(name, round);
        for (const auto* map : maps)
          if (auto request = walk(*map, drafting, rules_of(mapped_, mapped_arm.name)))
            add_request(launch, std::move(*request), drafting, seconds_in(costs));
      }
    }
    add_oracle(mapped_arm, maps);
  }

  void add_oracle(const trace::Arm& mapped_arm, const std::vector<const trace::DraftMap*>& maps) {
    if (maps.empty() || maps.front()->kind == trace::MapKind::walked) return;
    const std::string name = mapped_arm.name + "-oracle";
    add_arm(mapped_arm, name, {});
    for (int round = 0; round < run_.trace.header.rounds; ++round) {
      const ArmCosts own = oracle_costs(mapped_arm.name, round, false);
      if (run_.has_times && own.empty()) continue;
      ArmCosts expected = oracle_costs(mapped_arm.name, round, true);
      std::erase_if(expected, [&](const auto& entry) { return !own.contains(entry.first); });
      if (expected.empty()) {
        run_.has_lucky_oracle = run_.has_times;
        expected = own;
      }
      trace::Launch& launch = add_launch(name, round);
      for (const auto* map : maps)
        if (auto request = oracle(*map, rules_of(mapped_, mapped_arm.name), seconds_in(expected),
                                  seconds_in(own)))
          launch.requests.push_back(std::move(*request));
    }
  }

  /// Those of the arm, and plain's for no draft at all; empty where either was not timed.
  ArmCosts oracle_costs(const std::string& arm, int round, bool others) const {
    ArmCosts costs = costs_of(mapped_, arm, round, others);
    ArmCosts of_plain = costs_of(mapped_, plain_, round, others);
    if (costs.empty() || of_plain.empty()) return {};
    costs.merge(of_plain);
    return costs;
  }

  /// A way that was not timed is never chosen by the oracle.
  PassSeconds seconds_in(const ArmCosts& costs) const {
    if (!run_.has_times) return [](const auto&, const auto&) { return nominal_s; };
    return [&costs](const trace::Drafting& drafting, const trace::Pass& pass) {
      const auto found = costs.find(way_of(drafting));
      return found == costs.end() ? std::numeric_limits<double>::infinity()
                                  : found->second.seconds(pass);
    };
  }

  void add_arm(const trace::Arm& mapped_arm, const std::string& name,
               const trace::Drafting& drafting) {
    trace::Arm arm = mapped_arm;
    arm.name = name;
    if (!trace::is_ngram(arm.setup.spec_type)) arm.setup.draft_n_max = drafting.n_max;
    arm.setup.draft_p_min = drafting.p_min;
    run_.trace.header.arms.push_back(std::move(arm));
    run_.arms.push_back({name, mapped_arm.name, drafting});
  }

  trace::Launch& add_launch(const std::string& arm, int round) {
    trace::Launch launch;
    launch.index = static_cast<int>(run_.trace.launches.size());
    launch.round = round;
    launch.arm = arm;
    return run_.trace.launches.emplace_back(std::move(launch));
  }

  static void add_request(trace::Launch& launch, trace::Request request,
                          const trace::Drafting& drafting, const PassSeconds& seconds) {
    put_times(request, [&](const trace::Pass& pass) { return seconds(drafting, pass); });
    launch.requests.push_back(std::move(request));
  }

  const trace::Trace& mapped_;
  PredictedRun run_;
  std::string plain_;  ///< the arm's name
};

/// The first pass in which a request differs from what was walked; nothing when none does.
std::optional<std::size_t> first_difference(const trace::Request& request,
                                            const trace::Request& walked) {
  const auto same = [](const trace::Pass& a, const trace::Pass& b) {
    return std::tuple(a.kind, a.offered, a.accepted, a.width) ==
           std::tuple(b.kind, b.offered, b.accepted, b.width);
  };
  const auto [ours, theirs] = std::mismatch(request.passes.begin(), request.passes.end(),
                                            walked.passes.begin(), walked.passes.end(), same);
  if (ours == request.passes.end() && theirs == walked.passes.end()) return std::nullopt;
  return static_cast<std::size_t>(ours - request.passes.begin());
}

void check_request(const trace::Request& request, const trace::DraftMap& map, WalkRules rules,
                   MapCheck& check) {
  rules.n_predict = 0;
  for (const auto& emission : request.emissions)
    rules.n_predict += static_cast<int>(emission.tokens.size());
  if (map.ends_itself && std::cmp_equal(rules.n_predict, map.tokens.size())) return;
  const auto walked = walk(map, *request.drafting, rules);
  if (!walked) return;
  ++check.requests;
  check.passes += static_cast<long>(request.passes.size());
  const auto differs = first_difference(request, *walked);
  if (!differs) {
    ++check.requests_equal;
    return;
  }
  check.differences.push_back(
      fmt::format("{} of {}, drafts of {}: pass {} at depth {}", request.prompt_id,
                  request.workload_class, request.drafting->n_max, *differs + 1,
                  *differs < request.passes.size() ? request.passes[*differs].depth
                                                   : request.passes.back().depth));
}

}  // namespace

PredictedRun predict_run(const trace::Trace& mapped) { return Prediction(mapped).make(); }

MapCheck check_map(const trace::Trace& mapped) {
  MapCheck check;
  for (const auto& launch : mapped.launches) {
    const WalkRules rules = rules_of(mapped, launch.arm);
    for (const auto& request : launch.requests) {
      if (!request.drafting || !is_timed(launch, request, mapped.header)) continue;
      for (const auto* map : maps_of(mapped, launch.arm))
        if (map->workload_class == request.workload_class && map->prompt_id == request.prompt_id)
          check_request(request, *map, rules, check);
    }
  }
  return check;
}

WalkRules rules_of(const trace::Trace& mapped, const std::string& arm) {
  WalkRules rules;
  rules.n_predict = mapped.header.n_predict;
  for (const auto& launch : mapped.launches)
    if (launch.arm == arm && launch.facts) {
      rules.n_ctx = launch.facts->n_ctx;
      rules.replays = launch.facts->rollback == "replay";
    }
  return rules;
}

bool is_map(const trace::Trace& trace) {
  return std::any_of(trace.launches.begin(), trace.launches.end(),
                     [](const trace::Launch& launch) { return !launch.maps.empty(); });
}

}  // namespace paceline::metrics
