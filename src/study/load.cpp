#include "study/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "study/collect.hpp"
#include "study/order.hpp"
#include "util/hash.hpp"

namespace paceline::study {

namespace {

using engine::TimePoint;

constexpr auto cancel_patience = std::chrono::seconds(5);
constexpr auto wait_slice = std::chrono::hours(1);  // a signal ends a wait, no need to wake up
constexpr int most_failures_in_a_row = 20;          // beside those of all requests in flight

/// Random numbers of their own for every round and purpose.
std::mt19937_64 random_for(std::uint64_t seed, const std::string& purpose, int round) {
  const std::string name = fmt::format("load/{}/{}", purpose, round);
  return std::mt19937_64(util::fnv1a(name, util::fnv1a_start ^ seed));
}

/// Uniform in [0, 1) of 53 bits: std::uniform_real_distribution differs between libraries.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

/// Requests take the prompts in a random order, again from its beginning when it is used up.
std::vector<PlannedRequest> requests_in_order(int count, const std::vector<std::size_t>& order) {
  std::vector<PlannedRequest> requests;
  if (order.empty()) return requests;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    requests.push_back({order[i % order.size()], static_cast<int>(i / order.size()), {}});
  return requests;
}

void set_arrivals(PlannedCell& cell, std::mt19937_64 random) {
  double due_s = 0;
  for (auto& request : cell.requests) {
    due_s += -std::log1p(-uniform(random)) / cell.rate_per_s;
    request.due = std::chrono::nanoseconds(std::llround(due_s * 1e9));
  }
}

/// One cell in progress.
class Loading {
 public:
  Loading(engine::Engine& engine, const PlannedCell& planned, const LoadSurroundings& around)
      : engine_(engine), planned_(planned), around_(around) {
    const auto most = static_cast<std::size_t>(std::max(engine.capabilities().jobs_at_once, 1));
    limit_ = is_closed() ? std::min(static_cast<std::size_t>(planned.level), most) : most;
  }

  trace::LoadCell run() {
    cell_.loop = planned_.loop;
    cell_.level = planned_.level;
    cell_.rate_per_s = planned_.rate_per_s;
    cell_.planned = static_cast<int>(planned_.requests.size());
    const auto before = engine_.observe();
    began_ = around_.now();
    cell_.began_ns = trace::nanoseconds(began_);
    while (step()) {
    }
    cell_.ended_ns = trace::nanoseconds(around_.now());
    const auto after = engine_.observe();
    if (before && after) take_observations(*before, *after);
    for (auto& one : requests_) cell_.requests.push_back(std::move(one.request));
    return std::move(cell_);
  }

 private:
  bool is_closed() const { return planned_.loop == trace::LoadLoop::closed; }
  bool sends_more() const { return !stopping_ && requests_.size() < planned_.requests.size(); }
  TimePoint next_due() const { return began_ + planned_.requests[requests_.size()].due; }
  bool has_place() const { return running_.size() < limit_; }

  /// Sends what is due and waits for one event; false when the cell is over.
  bool step() {
    heed_the_user();
    while (sends_more() && has_place() && (is_closed() || around_.now() >= next_due())) {
      send();
      heed_the_user();
    }
    if (running_.empty() && !sends_more()) return false;
    if (give_up_at_ && around_.now() >= *give_up_at_) {
      for (const auto& [job, index] : running_) requests_[index].request.outcome = cancelled();
      return false;
    }
    if (auto event = engine_.next(wake_at())) take_event(std::move(*event));
    return true;
  }

  TimePoint wake_at() const {
    TimePoint wake = around_.now() + wait_slice;
    if (give_up_at_) wake = std::min(wake, *give_up_at_);
    if (sends_more() && has_place() && !is_closed()) wake = std::min(wake, next_due());
    return wake;
  }

  void send() {
    const auto& planned = planned_.requests[requests_.size()];
    const TimePoint due = is_closed() ? around_.now() : next_due();
    requests_.emplace_back();
    const auto job = engine_.submit_in_load(around_.job(planned), around_.patience, due);
    if (job) {
      running_[*job] = requests_.size() - 1;
      return;
    }
    auto& outcome = requests_.back().request.outcome;
    outcome.kind = trace::OutcomeKind::crashed;
    outcome.reason = job.error().message;
    stopping_ = true;
  }

  void take_event(engine::TaggedEvent&& event) {
    const auto running = running_.find(event.job);
    if (running == running_.end()) return;
    Collected& collected = requests_[running->second];
    const bool last = std::holds_alternative<trace::Finished>(event.event);
    take(std::move(event.event), collected);
    if (!last) return;
    note_outcome(collected.request.outcome.kind);
    running_.erase(running);
  }

  void note_outcome(trace::OutcomeKind kind) {
    if (kind == trace::OutcomeKind::done)
      failures_in_a_row_ = 0;
    else if (++failures_in_a_row_ >= most_failures_in_a_row + planned_.level)
      stopping_ = true;
    if (kind == trace::OutcomeKind::crashed) stopping_ = true;
  }

  void heed_the_user() {
    if (give_up_at_ || !around_.stop_asked()) return;
    stopping_ = true;
    give_up_at_ = around_.now() + cancel_patience;
    for (const auto& [job, index] : running_) engine_.cancel(job);
  }

  void take_observations(const engine::Snapshot& before, const engine::Snapshot& after) {
    cell_.counters_before = before.counters;
    cell_.counters_after = after.counters;
    if (before.client_cpu_s && after.client_cpu_s)
      cell_.client_cpu_s = *after.client_cpu_s - *before.client_cpu_s;
    cell_.lag_p50_s = after.lag_p50_s;
    cell_.lag_p99_s = after.lag_p99_s;
    cell_.lag_max_s = after.lag_max_s;
  }

  engine::Engine& engine_;
  const PlannedCell& planned_;
  const LoadSurroundings& around_;
  std::size_t limit_ = 1;  ///< requests in flight
  trace::LoadCell cell_;
  TimePoint began_;
  std::vector<Collected> requests_;
  std::map<engine::JobId, std::size_t> running_;  ///< with their place in requests_
  bool stopping_ = false;                         ///< no request is sent any more
  std::optional<TimePoint> give_up_at_;           ///< of requests that were cancelled
  int failures_in_a_row_ = 0;
};

}  // namespace

int requests_of_cell(const LoadOptions& loads, int level, std::size_t prompts) {
  return loads.requests.value_or(std::max(2 * level, static_cast<int>(prompts)));
}

std::vector<PlannedCell> plan_loads(const RunOptions& options, int round) {
  std::vector<PlannedCell> cells;
  for (const int level : options.loads.levels)
    cells.push_back({trace::LoadLoop::closed, level, 0, {}});
  for (const double rate : options.loads.rates)
    cells.push_back({trace::LoadLoop::open, 0, rate, {}});
  if (cells.empty()) return cells;
  const std::size_t prompts = options.prompts.measured.size();
  for (auto& cell : cells) {
    const std::string name = cell_name(cell);
    auto random = random_for(options.seed, "prompts of " + name, round);
    cell.requests = requests_in_order(requests_of_cell(options.loads, cell.level, prompts),
                                      shuffled_indices(prompts, random));
    if (cell.loop == trace::LoadLoop::open)
      set_arrivals(cell, random_for(options.seed, "arrivals of " + name, round));
  }
  auto random = random_for(options.seed, "order", 0);
  const auto orders = balanced_orders(cells.size(), round + 1, random);
  std::vector<PlannedCell> in_order;
  for (const std::size_t index : orders[static_cast<std::size_t>(round)])
    in_order.push_back(std::move(cells[index]));
  return in_order;
}

std::string cell_name(const PlannedCell& cell) {
  if (cell.loop == trace::LoadLoop::open) return fmt::format("{:g} requests/s", cell.rate_per_s);
  return fmt::format("{} request{} at once", cell.level, cell.level == 1 ? "" : "s");
}

trace::LoadCell run_load(engine::Engine& engine, const PlannedCell& planned,
                         const LoadSurroundings& surroundings) {
  return Loading(engine, planned, surroundings).run();
}

}  // namespace paceline::study
