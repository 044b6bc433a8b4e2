#include "engine/simulated/simulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <numeric>
#include <vector>

namespace {

using namespace paceline;
using engine::simulated::Fault;
using engine::simulated::FaultKind;
using engine::simulated::SimulatedEngine;
using engine::simulated::Truth;
using engine::simulated::World;

constexpr std::chrono::seconds patience{30};

trace::Setup drafting() {
  trace::Setup setup;
  setup.spec_type = trace::SpecType::draft_dflash;
  setup.draft_n_max = 4;
  return setup;
}

protocol::Generate job_of(int n_predict, const std::string& prompt = "prompt") {
  protocol::Generate job;
  job.prompt = prompt;
  job.n_predict = n_predict;
  return job;
}

/// What one job said, sorted by kind and in its order.
struct Said {
  std::vector<trace::Event> events;
  std::vector<trace::Pass> passes;
  std::vector<trace::Emission> emissions;
  std::vector<trace::WidthTime> widths;
  trace::Prefill prefill;
  trace::Finished finished;
  int progresses = 0;
  int silences = 0;

  std::vector<std::int32_t> tokens() const {
    std::vector<std::int32_t> all;
    for (const auto& emission : emissions)
      all.insert(all.end(), emission.tokens.begin(), emission.tokens.end());
    return all;
  }
};

void sort_event(Said& said, const trace::Event& event) {
  if (const auto* pass = std::get_if<trace::Pass>(&event)) said.passes.push_back(*pass);
  if (const auto* emission = std::get_if<trace::Emission>(&event))
    said.emissions.push_back(*emission);
  if (const auto* width = std::get_if<trace::WidthTime>(&event)) said.widths.push_back(*width);
  if (const auto* prefill = std::get_if<trace::Prefill>(&event)) said.prefill = *prefill;
  if (const auto* finished = std::get_if<trace::Finished>(&event)) said.finished = *finished;
  if (std::holds_alternative<trace::Progress>(event)) ++said.progresses;
}

Said listen(engine::Engine& engine) {
  Said said;
  while (true) {
    const auto tagged = engine.next({});
    if (!tagged) {
      ++said.silences;
      continue;
    }
    said.events.push_back(tagged->event);
    sort_event(said, tagged->event);
    if (std::holds_alternative<trace::Finished>(tagged->event)) return said;
  }
}

std::shared_ptr<World> world_of(const Truth& truth) {
  auto world = std::make_shared<World>();
  world->truth = truth;
  return world;
}

Said run(const Truth& truth, const trace::Setup& setup, const protocol::Job& job) {
  SimulatedEngine engine(world_of(truth));
  EXPECT_TRUE(engine.open(setup, {}));
  EXPECT_TRUE(engine.submit(job, patience));
  return listen(engine);
}

Truth accepting(std::vector<double> probabilities) {
  Truth truth;
  truth.acceptance = [probabilities](const trace::Setup&, std::string_view) {
    return probabilities;
  };
  return truth;
}

TEST(simulated, a_plain_arm_emits_one_token_a_pass_up_to_the_limit) {
  const auto said = run({}, {}, job_of(5));
  ASSERT_EQ(said.passes.size(), 4u);
  ASSERT_EQ(said.emissions.size(), 5u);
  for (const auto& emission : said.emissions) EXPECT_EQ(emission.tokens.size(), 1u);
  for (const auto& pass : said.passes) {
    EXPECT_EQ(pass.kind, trace::PassKind::plain);
    EXPECT_EQ(pass.width, 1);
    EXPECT_EQ(pass.attempts, 0);
    EXPECT_FALSE(pass.generated);
    EXPECT_EQ(pass.drafter, "");
  }
  EXPECT_EQ(said.finished.outcome.kind, trace::OutcomeKind::done);
  EXPECT_EQ(said.finished.stop, trace::StopReason::limit);
}

TEST(simulated, events_come_as_the_worker_sends_them) {
  const auto said = run({}, {}, job_of(3));
  ASSERT_EQ(said.events.size(), 7u);
  EXPECT_TRUE(std::holds_alternative<trace::Prefill>(said.events[0]));
  EXPECT_TRUE(std::holds_alternative<trace::Emission>(said.events[1]));
  EXPECT_TRUE(std::holds_alternative<trace::Pass>(said.events[2]));
  EXPECT_TRUE(std::holds_alternative<trace::Emission>(said.events[3]));
  EXPECT_TRUE(std::holds_alternative<trace::Pass>(said.events[4]));
  EXPECT_TRUE(std::holds_alternative<trace::Emission>(said.events[5]));
  EXPECT_TRUE(std::holds_alternative<trace::Finished>(said.events[6]));
}

TEST(simulated, drafts_are_full_and_accepted_up_to_the_first_impossible_position) {
  // Room for whole passes of 4 drafted + 1 while more than 4 tokens are missing.
  const auto said = run(accepting({1, 1, 0, 1}), drafting(), job_of(1 + 3 * 3 + 2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(said.passes[i].kind, trace::PassKind::speculative);
    EXPECT_EQ(said.passes[i].offered, 4);
    EXPECT_EQ(said.passes[i].accepted, 2);
    EXPECT_EQ(said.passes[i].tested, 3);
    EXPECT_EQ(said.passes[i].width, 5);
    EXPECT_EQ(said.passes[i].generated, 4);
    EXPECT_EQ(said.passes[i].drafter, "draft-dflash");
    EXPECT_EQ(said.emissions[i + 1].tokens.size(), 3u);
    EXPECT_EQ(said.emissions[i + 1].accepted, 2);
  }
  EXPECT_EQ(said.tokens().size(), 12u);
}

TEST(simulated, a_draft_never_goes_past_the_limit_and_the_last_token_is_not_drafted_for) {
  const auto said = run(accepting({1, 1, 1, 1}), drafting(), job_of(8));
  // First token, a pass of 5, then 2 tokens are missing: a draft of one.
  ASSERT_EQ(said.passes.size(), 2u);
  EXPECT_EQ(said.passes[1].offered, 1);
  EXPECT_EQ(said.passes[1].generated, 4);
  const auto one_short = run(accepting({1, 1, 1, 1}), drafting(), job_of(7));
  ASSERT_EQ(one_short.passes.size(), 2u);
  EXPECT_EQ(one_short.passes[1].kind, trace::PassKind::plain);
  EXPECT_EQ(one_short.passes[1].attempts, 0);
}

TEST(simulated, time_is_prefill_then_the_truth_of_every_pass) {
  auto truth = accepting({1, 0});
  truth.verify_s = [](int width) { return 0.010 + 0.001 * width; };
  truth.phases = {0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.5};
  truth.prefill_s_per_token = 0.1;
  truth.prefill_drafter_s_per_token = 0.01;
  truth.launch_factor = [](int) { return 2.0; };
  truth.prompt_factor = [](std::string_view) { return 3.0; };
  auto setup = drafting();
  setup.draft_n_max = 2;
  const auto said = run(truth, setup, job_of(5, "abcdef"));
  EXPECT_EQ(said.prefill.processed_tokens, 6);
  EXPECT_EQ(said.prefill.drafter_ns, 120'000'000);
  EXPECT_EQ(said.prefill.ended_ns - said.prefill.began_ns, 1'320'000'000);
  ASSERT_GE(said.passes.size(), 2u);
  const auto& pass = said.passes[0];  // offered 2, accepted 1: width 3
  EXPECT_EQ(pass.began_ns - said.prefill.ended_ns, 6 * 8'000'000);
  EXPECT_EQ(said.emissions[1].at_ns - pass.began_ns, 6 * (2 + 3 + 13 + 4 + 5) * 1'000'000);
  EXPECT_EQ(pass.ended_ns - said.emissions[1].at_ns, 6 * (6 + 7) * 1'000'000);
  EXPECT_FALSE(pass.phases);
}

TEST(simulated, a_synced_job_reports_phases_and_pays_for_synchronising) {
  auto truth = accepting({1, 0});
  truth.phases = {0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009};
  auto job = job_of(6);
  job.synced = true;
  const auto said = run(truth, drafting(), job);
  const auto& pass = said.passes[0];
  ASSERT_TRUE(pass.phases);
  EXPECT_EQ(pass.phases->draft_ns, 2'000'000);
  EXPECT_EQ(pass.phases->checkpoint_ns, 3'000'000);
  EXPECT_EQ(pass.phases->verify_ns, 10'000'000);
  EXPECT_EQ(pass.phases->process_ns, 4'000'000);
  EXPECT_EQ(pass.phases->sample_ns, 5'000'000);
  EXPECT_EQ(pass.phases->accept_ns, 6'000'000);
  EXPECT_EQ(pass.phases->rollback_ns, 7'000'000);
  EXPECT_EQ(pass.ended_ns - pass.began_ns, (2 + 3 + 10 + 4 + 5 + 6 + 7 + 9) * 1'000'000);
}

TEST(simulated, every_arm_and_launch_writes_the_same_text_for_a_prompt) {
  const auto plain = run({}, {}, job_of(40));
  auto truth = accepting({0.7, 0.5, 0.5});
  truth.replays = true;
  EXPECT_EQ(plain.tokens(), run(truth, drafting(), job_of(40)).tokens());
  EXPECT_NE(plain.tokens(), run({}, {}, job_of(40, "another")).tokens());
}

TEST(simulated, a_period_makes_the_text_repeat) {
  Truth truth;
  truth.text_period = 10;
  const auto tokens = run(truth, {}, job_of(30)).tokens();
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.begin() + 20, tokens.begin() + 10));
}

TEST(simulated, a_rejection_with_replays_costs_a_pass_that_emits_one_token_more) {
  auto truth = accepting({1, 0});
  truth.replays = true;
  const auto said = run(truth, drafting(), job_of(20));
  EXPECT_EQ(said.passes[0].kind, trace::PassKind::speculative);
  EXPECT_EQ(said.passes[1].kind, trace::PassKind::replay);
  EXPECT_EQ(said.passes[1].offered, 0);
  EXPECT_EQ(said.passes[1].width, 3);
  EXPECT_EQ(said.emissions[1].pass, 1);
  EXPECT_EQ(said.emissions[1].tokens.size(), 3u);
  EXPECT_EQ(said.emissions[1].accepted, 1);
}

TEST(simulated, the_stop_token_inside_an_accepted_prefix_leaves_overshoot) {
  auto truth = accepting({1, 1, 1, 1});
  truth.eos_probability = 0.15;
  int overshot = 0;
  for (int i = 0; i < 20; ++i) {
    const auto said = run(truth, drafting(), job_of(60, "prompt " + std::to_string(i)));
    const auto& last = said.emissions.back();
    if (said.finished.stop != trace::StopReason::eos) continue;
    EXPECT_EQ(last.tokens.back(), 2);
    EXPECT_EQ(std::count(last.tokens.begin(), last.tokens.end(), 2), 1);
    if (said.passes.empty()) continue;
    EXPECT_EQ(static_cast<int>(last.tokens.size()) + last.overshoot, last.accepted + 1);
    if (last.overshoot > 0) ++overshot;
  }
  EXPECT_GT(overshot, 3);
}

TEST(simulated, a_drafter_that_offers_nothing_was_still_run) {
  auto truth = accepting({1, 1, 1, 1});
  truth.fire_probability = 0;
  const auto said = run(truth, drafting(), job_of(6));
  ASSERT_EQ(said.passes.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(said.passes[i].kind, trace::PassKind::plain);
    EXPECT_EQ(said.passes[i].attempts, 1);
    EXPECT_EQ(said.passes[i].generated, 4);
  }
  EXPECT_EQ(said.passes[4].attempts, 0);  // the last token is not drafted for
}

TEST(simulated, draft_lengths_vary_from_the_shortest_to_the_longest) {
  auto truth = accepting({0});
  truth.shortest_draft = 2;
  const auto said = run(truth, drafting(), job_of(200));
  std::vector<int> seen;
  for (std::size_t i = 0; i < 180; ++i) seen.push_back(said.passes[i].offered);
  EXPECT_EQ(*std::min_element(seen.begin(), seen.end()), 2);
  EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 4);
  EXPECT_GT(std::count(seen.begin(), seen.end(), 3), 30);
}

TEST(simulated, offered_tokens_are_recorded_when_asked_for) {
  auto job = job_of(20);
  EXPECT_TRUE(run(accepting({1, 0}), drafting(), job).passes[0].draft.empty());
  job.record_drafts = true;
  const auto said = run(accepting({1, 0}), drafting(), job);
  ASSERT_EQ(said.passes[0].draft.size(), 4u);
  EXPECT_EQ(said.passes[0].draft[0], said.tokens()[1]);
  EXPECT_NE(said.passes[0].draft[1], said.tokens()[2]);
}

TEST(simulated, a_seed_repeats_a_run_and_launches_differ) {
  auto truth = accepting({0.5, 0.5, 0.5, 0.5});
  truth.pass_noise_sd = 0.1;
  const auto world = world_of(truth);
  std::vector<trace::Nanoseconds> ends;
  for (int launch = 0; launch < 2; ++launch) {
    SimulatedEngine engine(world);
    ASSERT_TRUE(engine.open(drafting(), {}));
    ASSERT_TRUE(engine.submit(job_of(50), patience));
    ends.push_back(listen(engine).passes.back().ended_ns);
  }
  EXPECT_NE(ends[0], ends[1]);
  EXPECT_EQ(ends[0], run(truth, drafting(), job_of(50)).passes.back().ended_ns);
  truth.seed = 2;
  EXPECT_NE(ends[0], run(truth, drafting(), job_of(50)).passes.back().ended_ns);
}

TEST(simulated, progress_is_said_once_a_second) {
  Truth truth;
  truth.verify_s = [](int) { return 0.4; };
  truth.prefill_s_per_token = 0;
  EXPECT_EQ(run(truth, {}, job_of(11)).progresses, 4);  // ten passes, 4 s
}

TEST(simulated, a_probe_times_each_width_by_the_truth) {
  Truth truth;
  truth.verify_s = [](int width) { return 0.01 * width; };
  truth.phases.draft_s = 0.002;
  truth.phases.process_s = 0.003;
  truth.launch_factor = [](int) { return 1.5; };
  const auto said = run(truth, drafting(), protocol::Probe{{1, 5}, 64, 3});
  ASSERT_EQ(said.widths.size(), 2u);
  EXPECT_EQ(said.widths[1].width, 5);
  EXPECT_EQ(said.widths[1].depth, 64);
  EXPECT_EQ(said.widths[1].verify_ns, std::vector<trace::Nanoseconds>(3, 75'000'000));
  EXPECT_EQ(said.widths[1].draft_ns, std::vector<trace::Nanoseconds>(3, 3'000'000));
  EXPECT_EQ(said.widths[1].process_ns, std::vector<trace::Nanoseconds>(3, 4'500'000));
  EXPECT_TRUE(run(truth, {}, protocol::Probe{{1}, 64, 3}).widths[0].draft_ns.empty());
}

TEST(simulated, impossible_jobs_are_refused_with_a_reason) {
  const std::vector<protocol::Job> jobs{job_of(5, ""),
                                        job_of(0),
                                        protocol::Probe{{0}, 0, 1},
                                        protocol::Probe{{1}, 0, 0},
                                        protocol::Probe{{1}, -1, 1},
                                        protocol::Synth{}};
  for (const auto& job : jobs) {
    const auto said = run({}, {}, job);
    EXPECT_EQ(said.events.size(), 1u);
    EXPECT_EQ(said.finished.outcome.kind, trace::OutcomeKind::refused);
    EXPECT_NE(said.finished.outcome.reason, "");
  }
}

TEST(simulated, a_launch_told_not_to_open_is_refused_and_the_next_one_opens) {
  Truth truth;
  truth.faults = {{FaultKind::refuse_open, 0, 0, 0}};
  const auto make_engine = engine::simulated::factory(world_of(truth));
  const auto first = make_engine(trace::Arm{})->open({}, {});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, trace::OutcomeKind::refused);
  EXPECT_NE(first.error().reason, "");
  EXPECT_TRUE(make_engine(trace::Arm{})->open({}, {}));
}

TEST(simulated, a_crash_loses_the_job_and_ends_the_launch) {
  Truth truth;
  truth.faults = {{FaultKind::crash, 0, 1, 2}};
  SimulatedEngine engine(world_of(truth));
  ASSERT_TRUE(engine.open({}, {}));
  ASSERT_TRUE(engine.submit(job_of(9), patience));
  EXPECT_EQ(listen(engine).finished.outcome.kind, trace::OutcomeKind::done);
  ASSERT_TRUE(engine.submit(job_of(9), patience));
  const auto said = listen(engine);
  EXPECT_EQ(said.events.size(), 1u);
  EXPECT_EQ(said.finished.outcome.kind, trace::OutcomeKind::crashed);
  EXPECT_EQ(said.finished.outcome.signal, SIGABRT);
  EXPECT_FALSE(engine.submit(job_of(9), patience));
}

TEST(simulated, a_fault_past_the_end_of_its_job_does_nothing) {
  Truth truth;
  truth.faults = {{FaultKind::crash, 0, 0, 99}};
  EXPECT_EQ(run(truth, {}, job_of(9)).finished.outcome.kind, trace::OutcomeKind::done);
}

TEST(simulated, a_hang_is_silent_and_then_timed_out) {
  Truth truth;
  truth.faults = {{FaultKind::hang, 0, 0, 3}};
  const auto said = run(truth, {}, job_of(9));
  EXPECT_EQ(said.silences, 1);
  EXPECT_EQ(said.finished.outcome.kind, trace::OutcomeKind::timed_out);
  EXPECT_EQ(said.finished.outcome.reason, "no sign of life from the engine for 30 s");
}

TEST(simulated, a_cut_stream_keeps_what_came_before) {
  Truth truth;
  truth.faults = {{FaultKind::cut, 0, 0, 3}};
  const auto said = run(truth, {}, job_of(9));
  EXPECT_EQ(said.passes.size(), 3u);
  EXPECT_EQ(said.emissions.size(), 4u);
  EXPECT_EQ(said.finished.outcome.kind, trace::OutcomeKind::crashed);
}

TEST(simulated, a_cancelled_job_says_so_once) {
  SimulatedEngine engine(world_of({}));
  ASSERT_TRUE(engine.open({}, {}));
  const auto id = engine.submit(job_of(9), patience);
  ASSERT_TRUE(id);
  ASSERT_TRUE(engine.next({}));
  engine.cancel(*id + 1);  // another job's number changes nothing
  engine.cancel(*id);
  const auto said = listen(engine);
  EXPECT_EQ(said.finished.outcome.kind, trace::OutcomeKind::cancelled);
  EXPECT_EQ(said.events.size(), 1u);
  EXPECT_FALSE(engine.next({}));
}

TEST(simulated, jobs_need_an_open_engine_and_one_at_a_time) {
  SimulatedEngine engine(world_of({}));
  EXPECT_FALSE(engine.submit(job_of(9), patience));
  ASSERT_TRUE(engine.open({}, {}));
  ASSERT_TRUE(engine.submit(job_of(9), patience));
  EXPECT_FALSE(engine.submit(job_of(9), patience));
  engine.close();
  engine.close();
  EXPECT_FALSE(engine.next({}));
  EXPECT_FALSE(engine.submit(job_of(9), patience));
}

TEST(simulated, facts_say_what_really_runs) {
  Truth truth;
  truth.draft_block = 8;
  auto setup = drafting();
  setup.draft_n_max = 20;
  setup.threads = 3;
  SimulatedEngine engine(world_of(truth));
  trace::Sampling sampling;
  sampling.temp = 0.5;
  const auto facts = engine.open(setup, sampling);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->engine, "simulated");
  EXPECT_EQ(facts->draft_n_max, 7);
  EXPECT_EQ(facts->rollback, "partial");
  EXPECT_EQ(facts->threads, 3);
  EXPECT_EQ(trace::in_force(facts->sampling, "temp"), 0.5);
  const auto plain = SimulatedEngine(world_of(truth)).open({}, {});
  EXPECT_FALSE(plain->draft_n_max);
  EXPECT_EQ(plain->rollback, "none");
}

}  // namespace
