#include "study/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace paceline::study {
namespace {

using engine::JobId;
using engine::TimePoint;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Many jobs at once on a clock that only this engine moves: each job ends a given time after it
/// was submitted.
class ManyJobs final : public engine::Engine {
 public:
  struct Submitted {
    TimePoint at;
    TimePoint due;
    std::size_t in_flight = 0;  ///< this one included
  };

  engine::Capabilities capabilities() const override {
    engine::Capabilities can;
    can.jobs_at_once = jobs_at_once;
    return can;
  }
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup&,
                                                        const trace::Sampling&) override {
    return trace::EngineFacts{};
  }
  util::Result<JobId> submit(const protocol::Job&, std::chrono::seconds) override {
    return util::fail(util::ErrorKind::internal, "a load is no single job");
  }
  util::Result<JobId> submit_in_load(const protocol::Job&, std::chrono::seconds,
                                     TimePoint due) override {
    if (submitted.size() == dies_at) return util::fail(util::ErrorKind::engine, "the engine died");
    ends_at[now + durations[submitted.size() % durations.size()]].push_back(++last);
    submitted.push_back({now, due, in_flight()});
    return last;
  }
  std::optional<engine::TaggedEvent> next(TimePoint until) override {
    if (ends_at.empty() || ends_at.begin()->first > until) {
      now = until;
      return std::nullopt;
    }
    const auto first = ends_at.begin();
    now = first->first;
    const JobId job = first->second.front();
    first->second.erase(first->second.begin());
    if (first->second.empty()) ends_at.erase(first);
    trace::Finished finished;
    finished.outcome.kind = cancelled.contains(job) ? trace::OutcomeKind::cancelled : outcome;
    return engine::TaggedEvent{job, finished};
  }
  void cancel(JobId job) override {
    cancelled.insert(job);
    if (ignores_cancel) return;
    for (auto& [at, jobs] : ends_at) std::erase(jobs, job);
    std::erase_if(ends_at, [](const auto& entry) { return entry.second.empty(); });
    ends_at[now].push_back(job);
  }
  util::Result<engine::Snapshot> observe() override {
    engine::Snapshot snapshot;
    snapshot.counters["decodes"] = static_cast<double>(last);
    snapshot.client_cpu_s = 0.5 + static_cast<double>(last);
    snapshot.lag_p99_s = 0.001;
    return snapshot;
  }
  void close() override {}

  std::size_t in_flight() const {
    std::size_t jobs = 0;
    for (const auto& [at, ending] : ends_at) jobs += ending.size();
    return jobs;
  }

  int jobs_at_once = 1000;
  std::vector<milliseconds> durations = {milliseconds(1000)};
  std::size_t dies_at = 1'000'000;
  trace::OutcomeKind outcome = trace::OutcomeKind::done;
  bool ignores_cancel = false;
  TimePoint now{std::chrono::seconds(100)};
  JobId last = 0;
  std::map<TimePoint, std::vector<JobId>> ends_at;
  std::set<JobId> cancelled;
  std::vector<Submitted> submitted;
};

LoadSurroundings around(ManyJobs& engine) {
  LoadSurroundings surroundings;
  surroundings.job = [](const PlannedRequest&) { return protocol::Generate{}; };
  surroundings.stop_asked = [] { return false; };
  surroundings.now = [&engine] { return engine.now; };
  return surroundings;
}

PlannedCell closed(int level, std::size_t requests) {
  return {trace::LoadLoop::closed, level, 0, std::vector<PlannedRequest>(requests)};
}

PlannedCell open(std::initializer_list<int> due_ms) {
  PlannedCell cell{trace::LoadLoop::open, 0, 1, {}};
  for (const int due : due_ms) cell.requests.push_back({0, 0, milliseconds(due)});
  return cell;
}

std::size_t count(const trace::LoadCell& cell, trace::OutcomeKind kind) {
  return static_cast<std::size_t>(
      std::count_if(cell.requests.begin(), cell.requests.end(),
                    [kind](const auto& request) { return request.outcome.kind == kind; }));
}

TEST(ClosedLoop, keeps_exactly_its_level_in_flight_until_no_request_is_left) {
  ManyJobs engine;
  engine.durations = {milliseconds(700), milliseconds(300), milliseconds(1100)};
  const auto cell = run_load(engine, closed(3, 10), around(engine));
  ASSERT_EQ(engine.submitted.size(), 10u);
  EXPECT_EQ(engine.submitted[0].in_flight, 1u);
  EXPECT_EQ(engine.submitted[1].in_flight, 2u);
  for (std::size_t i = 2; i < 10; ++i) EXPECT_EQ(engine.submitted[i].in_flight, 3u) << i;
  EXPECT_EQ(cell.requests.size(), 10u);
  EXPECT_EQ(cell.planned, 10);
  EXPECT_EQ(count(cell, trace::OutcomeKind::done), 10u);
}

TEST(ClosedLoop, counts_latency_from_when_a_place_came_free) {
  ManyJobs engine;
  const TimePoint began = engine.now;
  run_load(engine, closed(1, 3), around(engine));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(engine.submitted[i].due, began + std::chrono::seconds(i));
    EXPECT_EQ(engine.submitted[i].at, engine.submitted[i].due);
  }
}

TEST(ClosedLoop, takes_what_the_engine_and_this_program_say_before_and_after) {
  ManyJobs engine;
  const auto cell = run_load(engine, closed(2, 4), around(engine));
  EXPECT_EQ(cell.counters_before.at("decodes"), 0);
  EXPECT_EQ(cell.counters_after.at("decodes"), 4);
  EXPECT_EQ(cell.client_cpu_s, 4);
  EXPECT_EQ(cell.lag_p99_s, 0.001);
  EXPECT_FALSE(cell.lag_p50_s);
  EXPECT_EQ(cell.ended_ns - cell.began_ns, 2'000'000'000);
}

TEST(OpenLoop, sends_when_due_whatever_still_runs) {
  ManyJobs engine;  // each takes 1000 ms
  const TimePoint began = engine.now;
  run_load(engine, open({0, 200, 250, 1500}), around(engine));
  ASSERT_EQ(engine.submitted.size(), 4u);
  const int due[] = {0, 200, 250, 1500};
  const std::size_t in_flight[] = {1, 2, 3, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(engine.submitted[i].at, began + milliseconds(due[i])) << i;
    EXPECT_EQ(engine.submitted[i].in_flight, in_flight[i]) << i;
  }
}

TEST(OpenLoop, that_the_engine_holds_up_still_counts_latency_from_when_requests_were_due) {
  ManyJobs engine;
  engine.jobs_at_once = 1;
  const TimePoint began = engine.now;
  run_load(engine, open({0, 200}), around(engine));
  EXPECT_EQ(engine.submitted[1].at, began + milliseconds(1000));
  EXPECT_EQ(engine.submitted[1].due, began + milliseconds(200));
}

TEST(Load, that_the_user_stops_cancels_what_runs_and_sends_nothing_more) {
  ManyJobs engine;
  auto surroundings = around(engine);
  surroundings.stop_asked = [&] { return engine.submitted.size() >= 5; };
  const auto cell = run_load(engine, closed(3, 10), surroundings);
  EXPECT_EQ(cell.planned, 10);
  ASSERT_EQ(cell.requests.size(), 5u);
  // Two of the first three had ended, each of which made room for one more.
  EXPECT_EQ(count(cell, trace::OutcomeKind::done), 2u);
  EXPECT_EQ(count(cell, trace::OutcomeKind::cancelled), 3u);
}

TEST(Load, gives_up_requests_that_do_not_let_themselves_be_cancelled) {
  ManyJobs engine;
  engine.durations = {milliseconds(3'600'000)};
  engine.ignores_cancel = true;
  auto surroundings = around(engine);
  surroundings.stop_asked = [&] { return engine.submitted.size() >= 2; };
  const auto cell = run_load(engine, closed(2, 4), surroundings);
  EXPECT_EQ(count(cell, trace::OutcomeKind::cancelled), 2u);
  EXPECT_EQ(cell.ended_ns - cell.began_ns, 5'000'000'000);
}

TEST(Load, ends_when_the_engine_takes_no_more) {
  ManyJobs engine;
  engine.dies_at = 3;
  const auto cell = run_load(engine, closed(2, 10), around(engine));
  ASSERT_EQ(cell.requests.size(), 4u);
  EXPECT_EQ(cell.requests[3].outcome.kind, trace::OutcomeKind::crashed);
  EXPECT_EQ(cell.requests[3].outcome.reason, "the engine died");
  EXPECT_EQ(count(cell, trace::OutcomeKind::done), 3u);
}

TEST(Load, ends_when_nothing_but_failures_comes_back) {
  ManyJobs engine;
  engine.outcome = trace::OutcomeKind::failed;
  const auto cell = run_load(engine, closed(2, 1000), around(engine));
  EXPECT_EQ(cell.requests.size(), 23u);  // the 22nd failure ends it, while one more runs
  EXPECT_EQ(count(cell, trace::OutcomeKind::failed), 23u);
}

RunOptions options_with(LoadOptions loads, std::size_t prompts) {
  RunOptions options;
  options.loads = std::move(loads);
  options.prompts.measured.resize(prompts);
  options.rounds = 3;
  options.seed = 7;
  return options;
}

std::vector<double> gaps_s(const PlannedCell& cell) {
  std::vector<double> gaps;
  nanoseconds last{0};
  for (const auto& request : cell.requests) {
    gaps.push_back(std::chrono::duration<double>(request.due - last).count());
    last = request.due;
  }
  return gaps;
}

double share_above(const std::vector<double>& values, double limit) {
  const auto above =
      std::count_if(values.begin(), values.end(), [limit](double value) { return value > limit; });
  return static_cast<double>(above) / static_cast<double>(values.size());
}

TEST(LoadPlan, draws_arrivals_whose_gaps_are_exponential) {
  const auto cells = plan_loads(options_with({{}, {5}, 10'000}, 3), 0);
  ASSERT_EQ(cells.size(), 1u);
  const auto gaps = gaps_s(cells[0]);
  ASSERT_EQ(gaps.size(), 10'000u);
  EXPECT_GE(*std::min_element(gaps.begin(), gaps.end()), 0);
  // Mean 1/5 s, its standard error 1 %; half of them over ln 2 / 5, a quarter over twice that, an
  // eighth over three times it; standard errors of shares are at most 0.005.
  double mean = 0;
  for (const double gap : gaps) mean += gap / 10'000;
  EXPECT_NEAR(mean, 0.2, 0.2 * 0.04);
  const double half_life = std::log(2) / 5;
  EXPECT_NEAR(share_above(gaps, half_life), 0.5, 0.02);
  EXPECT_NEAR(share_above(gaps, 2 * half_life), 0.25, 0.02);
  EXPECT_NEAR(share_above(gaps, 3 * half_life), 0.125, 0.02);
}

TEST(LoadPlan, follows_from_the_seed_and_differs_between_rounds) {
  auto options = options_with({{}, {2}, 50}, 3);
  const auto first = gaps_s(plan_loads(options, 0)[0]);
  EXPECT_EQ(first, gaps_s(plan_loads(options, 0)[0]));
  EXPECT_NE(first, gaps_s(plan_loads(options, 1)[0]));
  options.seed = 8;
  EXPECT_NE(first, gaps_s(plan_loads(options, 0)[0]));
}

TEST(LoadPlan, takes_every_prompt_before_any_twice) {
  const auto cells = plan_loads(options_with({{2}, {}, 7}, 3), 0);
  ASSERT_EQ(cells.at(0).requests.size(), 7u);
  std::set<std::size_t> first_round;
  for (std::size_t i = 0; i < 7; ++i) {
    const auto& request = cells[0].requests[i];
    EXPECT_EQ(request.repetition, static_cast<int>(i / 3));
    EXPECT_EQ(request.due.count(), 0);
    if (i < 3) first_round.insert(request.prompt);
  }
  EXPECT_EQ(first_round, (std::set<std::size_t>{0, 1, 2}));
}

TEST(LoadPlan, has_two_requests_a_place_at_least_and_every_prompt) {
  const LoadOptions loads{{1, 8}, {}, {}};
  EXPECT_EQ(requests_of_cell(loads, 1, 6), 6);
  EXPECT_EQ(requests_of_cell(loads, 8, 6), 16);
  EXPECT_EQ(requests_of_cell({{8}, {}, 100}, 8, 6), 100);
}

TEST(LoadPlan, puts_every_cell_at_every_place_over_the_rounds) {
  const auto options = options_with({{1, 2}, {3, 4}, 2}, 2);
  std::map<std::string, std::set<std::size_t>> places;
  for (int round = 0; round < 4; ++round) {
    const auto cells = plan_loads(options, round);
    for (std::size_t place = 0; place < cells.size(); ++place)
      places[cell_name(cells[place])].insert(place);
  }
  ASSERT_EQ(places.size(), 4u);
  for (const auto& [name, taken] : places) EXPECT_EQ(taken.size(), 4u) << name;
}

}  // namespace
}  // namespace paceline::study
