#include "metrics/draft_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace paceline::metrics {

namespace {

constexpr double ns_per_s = 1e9;

/// Number of the last token of a request along the text, from 0.
int last_of(const trace::DraftMap& map, const WalkRules& rules) {
  const int tokens = static_cast<int>(map.tokens.size());
  return (rules.n_predict > 0 ? std::min(tokens, rules.n_predict) : tokens) - 1;
}

/// The ask that answers for a way of drafting; null: there is none.
const trace::DraftAsk* find_ask(const trace::DraftMap& map, const trace::Drafting& drafting) {
  const auto answers = [&](const trace::DraftAsk& ask) {
    const bool same_p = ask.drafting.p_min == drafting.p_min;
    return same_p && (map.kind == trace::MapKind::one_ask ? ask.drafting.n_max >= drafting.n_max
                                                          : ask.drafting.n_max == drafting.n_max);
  };
  const auto found = std::find_if(map.asks.begin(), map.asks.end(), answers);
  return found == map.asks.end() ? nullptr : &*found;
}

/// One step of a walk: a draft, what of it was accepted, and where it led to.
struct Step {
  trace::Drafting drafting;
  int place = 0;
  bool attempted = false;
  int offered = 0;
  int accepted = 0;
  bool replayed = false;

  int next() const { return place + accepted + (replayed ? 2 : 1); }
};

/// Tokens that may be drafted behind a place.
int room_at(const trace::DraftMap& map, int place, const WalkRules& rules) {
  const int cap = rules.n_predict > 0 ? rules.n_predict : static_cast<int>(map.tokens.size());
  const int depth = map.prompt_tokens + place;
  const int context = rules.n_ctx > 0 ? rules.n_ctx - depth - 2 : std::numeric_limits<int>::max();
  return std::min(context, cap - (place + 1) - 1);
}

/// Nothing where the drafter was not asked at this place.
std::optional<Step> step_at(const trace::DraftMap& map, const trace::DraftAsk& ask, int longest,
                            int place, const WalkRules& rules) {
  Step step{{longest, ask.drafting.p_min}, place, false, 0, 0, false};
  const int room = room_at(map, place, rules);
  if (room <= 0) return step;
  const auto found = std::lower_bound(ask.places.begin(), ask.places.end(), place);
  if (found == ask.places.end() || *found != place) return std::nullopt;
  const auto index = static_cast<std::size_t>(found - ask.places.begin());
  step.attempted = true;
  step.offered = std::min({longest, ask.offered[index], room});
  step.accepted = std::min(step.offered, ask.accepted[index]);
  step.replayed = rules.replays && step.accepted < step.offered;
  return step;
}

trace::Pass pass_of(const Step& step, const trace::DraftMap& map, int index) {
  trace::Pass pass;
  pass.index = index;
  pass.kind = step.offered > 0 ? trace::PassKind::speculative : trace::PassKind::plain;
  pass.attempts = step.attempted ? 1 : 0;
  pass.offered = step.offered;
  pass.accepted = step.accepted;
  pass.tested = step.accepted + (step.accepted < step.offered ? 1 : 0);
  pass.width = step.offered + 1;
  pass.depth = map.prompt_tokens + step.place;
  return pass;
}

/// The pass that decodes again what was accepted and the target's own token behind it.
trace::Pass replay_of(const Step& step, const trace::DraftMap& map, int index) {
  trace::Pass pass;
  pass.index = index;
  pass.kind = trace::PassKind::replay;
  pass.width = step.accepted + 2;
  pass.depth = map.prompt_tokens + step.place;
  return pass;
}

trace::Emission emission_of(const Step& step, const trace::DraftMap& map, int pass, int last) {
  const int end = std::min(step.next(), last);
  trace::Emission emission;
  emission.pass = pass;
  emission.accepted = step.accepted;
  emission.overshoot = step.next() - end;
  emission.tokens.assign(map.tokens.begin() + step.place + 1, map.tokens.begin() + end + 1);
  return emission;
}

trace::Request begin_request(const trace::DraftMap& map) {
  trace::Request request;
  request.prompt_id = map.prompt_id;
  request.workload_class = map.workload_class;
  request.family = map.family;
  request.stop = map.ends_itself ? trace::StopReason::eos : trace::StopReason::limit;
  request.prefill.prompt_tokens = request.prefill.processed_tokens = map.prompt_tokens;
  trace::Emission first;
  first.tokens = {map.tokens.front()};
  request.emissions.push_back(std::move(first));
  return request;
}

void add_step(trace::Request& request, const Step& step, const trace::DraftMap& map, int last) {
  const auto add = [&](trace::Pass pass) { request.passes.push_back(std::move(pass)); };
  const auto index = [&] { return static_cast<int>(request.passes.size()); };
  add(pass_of(step, map, index()));
  if (step.replayed) add(replay_of(step, map, index()));
  request.emissions.push_back(emission_of(step, map, index() - 1, last));
}

double seconds_of(const Step& step, const trace::DraftMap& map, const PassSeconds& seconds) {
  double sum = seconds(step.drafting, pass_of(step, map, 0));
  if (step.replayed) sum += seconds(step.drafting, replay_of(step, map, 0));
  return sum;
}

/// All steps that can be taken from a place: without a draft, and with one of every length.
std::vector<Step> steps_at(const trace::DraftMap& map, int place, const WalkRules& rules) {
  std::vector<Step> steps{{{0, 0}, place, false, 0, 0, false}};
  for (const trace::DraftAsk& ask : map.asks) {
    const int shortest = map.kind == trace::MapKind::one_ask ? 1 : ask.drafting.n_max;
    for (int longest = shortest; longest <= ask.drafting.n_max; ++longest)
      if (const auto step = step_at(map, ask, longest, place, rules); step && step->attempted)
        steps.push_back(*step);
  }
  return steps;
}

}  // namespace

std::optional<trace::Request> walk(const trace::DraftMap& map, const trace::Drafting& drafting,
                                   const WalkRules& rules) {
  const trace::DraftAsk* ask = find_ask(map, drafting);
  if (ask == nullptr || map.tokens.empty()) return std::nullopt;
  trace::Request request = begin_request(map);
  const int last = last_of(map, rules);
  for (int place = 0; place < last;) {
    const auto step = step_at(map, *ask, drafting.n_max, place, rules);
    if (!step) return std::nullopt;
    add_step(request, *step, map, last);
    place = step->next();
  }
  return request;
}

std::optional<trace::Request> oracle(const trace::DraftMap& map, const WalkRules& rules,
                                     const PassSeconds& expected, const PassSeconds& seconds) {
  if (map.kind == trace::MapKind::walked || map.tokens.empty()) return std::nullopt;
  const int last = last_of(map, rules);
  std::vector<double> left(static_cast<std::size_t>(last) + 1, 0.0);
  std::vector<Step> best(static_cast<std::size_t>(last));
  for (int place = last - 1; place >= 0; --place) {
    double least = std::numeric_limits<double>::infinity();
    for (const Step& step : steps_at(map, place, rules)) {
      const auto next = static_cast<std::size_t>(std::min(step.next(), last));
      const double sum = seconds_of(step, map, expected) + left[next];
      if (sum >= least) continue;
      least = sum;
      best[static_cast<std::size_t>(place)] = step;
    }
    left[static_cast<std::size_t>(place)] = least;
  }
  trace::Request request = begin_request(map);
  std::vector<trace::Drafting> chosen;
  for (int place = 0; place < last;) {
    const Step& step = best[static_cast<std::size_t>(place)];
    add_step(request, step, map, last);
    chosen.resize(request.passes.size(), step.drafting);
    place = step.next();
  }
  put_times(request, [&](const trace::Pass& pass) {
    return seconds(chosen[static_cast<std::size_t>(pass.index)], pass);
  });
  return request;
}

void put_times(trace::Request& request, const std::function<double(const trace::Pass&)>& seconds) {
  trace::Nanoseconds now = 0;
  for (trace::Pass& pass : request.passes) {
    pass.began_ns = now;
    now += static_cast<trace::Nanoseconds>(std::llround(seconds(pass) * ns_per_s));
    pass.ended_ns = now;
  }
  for (trace::Emission& emission : request.emissions)
    if (emission.pass >= 0)
      emission.at_ns = request.passes[static_cast<std::size_t>(emission.pass)].ended_ns;
}

}  // namespace paceline::metrics
