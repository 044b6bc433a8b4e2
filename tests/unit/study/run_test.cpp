#include "study/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/simulated/simulated.hpp"

namespace paceline::study {
namespace {

using engine::simulated::Fault;
using engine::simulated::FaultKind;
using engine::simulated::World;

/// Remembers what it was given, in order, and can fail.
class MemoryJournal final : public trace::Journal {
 public:
  util::Result<void> begin(const trace::Header&) override { return note("begin"); }
  util::Result<void> launch(const trace::Launch& launch) override {
    return note("launch " + launch.arm);
  }
  util::Result<void> request(int, const trace::Request& request) override {
    return note(request.warm_up ? "warm-up" : "request " + request.prompt_id);
  }
  util::Result<void> width(int, const trace::WidthTime&) override { return note("width"); }
  util::Result<void> memory(int, const trace::MemoryReading&) override { return note("memory"); }
  util::Result<void> load(int, const trace::LoadCell& cell) override {
    return note(cell.loop == trace::LoadLoop::closed ? "closed loop" : "open loop");
  }
  util::Result<void> fill(int, const trace::FilledDepth& filled) override {
    return note("fill " + std::to_string(filled.asked_depth));
  }
  util::Result<void> rereading(int, const trace::Rereading&) override { return note("rereading"); }
  util::Result<void> draft_map(int, const trace::DraftMap&) override { return note("draft_map"); }
  util::Result<void> launch_end(int, const trace::Outcome&) override { return note("launch end"); }
  util::Result<void> end(bool) override { return note("end"); }

  std::vector<std::string> notes;
  std::size_t fail_after = 1'000'000;

 private:
  util::Result<void> note(std::string text) {
    if (notes.size() >= fail_after) return util::fail(util::ErrorKind::internal, "disk full");
    notes.push_back(std::move(text));
    return {};
  }
};

workload::Prompt prompt(const std::string& id, const std::string& text) {
  workload::Prompt prompt;
  prompt.id = prompt.family = id;
  prompt.workload_class = "code";
  prompt.text = text;
  return prompt;
}

/// The simulated engine as if it ran in this process's group, which it says only while open.
class LocalEngine final : public engine::Engine {
 public:
  explicit LocalEngine(std::unique_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}
  engine::Capabilities capabilities() const override {
    auto capabilities = engine_->capabilities();
    capabilities.is_local = true;
    return capabilities;
  }
  tl::expected<trace::EngineFacts, trace::Outcome> open(const trace::Setup& setup,
                                                        const trace::Sampling& sampling) override {
    group_ = ::getpgrp();
    return engine_->open(setup, sampling);
  }
  util::Result<engine::JobId> submit(const protocol::Job& job,
                                     std::chrono::seconds patience) override {
    return engine_->submit(job, patience);
  }
  std::optional<engine::TaggedEvent> next(engine::TimePoint until) override {
    return engine_->next(until);
  }
  void cancel(engine::JobId job) override { engine_->cancel(job); }
  std::optional<pid_t> process_group() const override { return group_; }
  void close() override { engine_->close(); }

 private:
  std::unique_ptr<engine::Engine> engine_;
  std::optional<pid_t> group_;
};

engine::EngineFactory as_local(const engine::EngineFactory& make) {
  return [make] { return std::make_unique<LocalEngine>(make()); };
}

class StudyRun : public ::testing::Test {
 protected:
  StudyRun() {
    trace::Arm plain;
    plain.name = "plain";
    trace::Arm drafted;
    drafted.name = "dflash-n7";
    drafted.setup.spec_type = trace::SpecType::draft_dflash;
    drafted.setup.draft_n_max = 7;
    options.arms = {plain, drafted};
    for (const char* id : {"a", "b", "c"})
      options.prompts.measured.push_back(prompt(id, std::string("text of ") + id));
    options.prompts.warm_up.push_back(prompt("w", "warm"));
    options.n_predict = 20;
    options.rounds = 3;
  }

  util::Result<trace::Trace> run() {
    trace::Trace trace;
    trace.header.arms = options.arms;
    const auto simulated = engine::simulated::factory(world);
    const engine::EngineFactory make_engine = make_local ? as_local(simulated) : simulated;
    const auto taken_down = study::run(
        options, make_engine, journal, [](double, double, const std::string&) {},
        [this] { return stop_after_asks-- <= 0; }, trace);
    measured_before_the_end = trace.launches.size();
    if (!taken_down) return tl::unexpected<util::Error>(taken_down.error());
    return trace;
  }

  RunOptions options;
  std::shared_ptr<World> world = std::make_shared<World>();
  MemoryJournal journal;
  bool make_local = false;
  int stop_after_asks = 1'000'000;
  std::size_t measured_before_the_end = 0;
};

int count(const trace::Trace& trace, const std::string& arm, trace::OutcomeKind kind) {
  int total = 0;
  for (const auto& launch : trace.launches)
    for (const auto& request : launch.requests)
      total += launch.arm == arm && !request.warm_up && request.outcome.kind == kind ? 1 : 0;
  return total;
}

TEST_F(StudyRun, asks_every_prompt_of_every_arm_in_every_round) {
  const auto trace = run();
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->launches.size(), 6u);
  EXPECT_EQ(count(*trace, "plain", trace::OutcomeKind::done), 9);
  EXPECT_EQ(count(*trace, "dflash-n7", trace::OutcomeKind::done), 9);
  for (const auto& launch : trace->launches) {
    std::set<std::string> prompts;
    for (const auto& request : launch.requests)
      if (!request.warm_up) prompts.insert(request.prompt_id);
    EXPECT_EQ(prompts, (std::set<std::string>{"a", "b", "c"}));
    EXPECT_TRUE(launch.requests.front().warm_up) << "a launch warms up before it is measured";
  }
  EXPECT_FALSE(trace->interrupted);
}

TEST_F(StudyRun, gives_a_prompt_the_same_seed_in_all_arms_of_a_round_and_another_in_the_next) {
  const auto trace = run();
  std::map<int, std::set<std::uint32_t>> seeds_of_a;
  for (const auto& launch : trace->launches)
    for (const auto& request : launch.requests)
      if (request.prompt_id == "a") seeds_of_a[launch.round].insert(request.seed);
  ASSERT_EQ(seeds_of_a.size(), 3u);
  std::set<std::uint32_t> all;
  for (const auto& [round, seeds] : seeds_of_a) {
    EXPECT_EQ(seeds.size(), 1u);
    all.insert(*seeds.begin());
  }
  EXPECT_EQ(all.size(), 3u);
}

TEST_F(StudyRun, takes_down_every_record_when_it_comes) {
  options.rounds = 1;
  options.arms.pop_back();
  ASSERT_TRUE(run());
  ASSERT_EQ(journal.notes.size(), 8u);
  EXPECT_EQ(journal.notes[0], "begin");
  EXPECT_EQ(journal.notes[1], "launch plain");
  EXPECT_EQ(journal.notes[2], "warm-up");
  EXPECT_EQ(journal.notes[6], "launch end");
  EXPECT_EQ(journal.notes[7], "end");
}

TEST_F(StudyRun, fills_the_context_once_a_launch_from_depth_to_depth) {
  options.rounds = 1;
  options.arms.pop_back();
  options.arms[0].setup.n_ctx = 1000;
  options.widths = true;
  options.widest = 2;
  options.depths = {0, 100, 400};
  const auto trace = run();
  ASSERT_TRUE(trace) << trace.error().message;
  const std::vector<std::string> of_a_depth = {"width", "width", "request", "request", "request"};
  std::vector<std::string> seen;
  for (const auto& note : journal.notes)
    seen.push_back(note.starts_with("request") ? "request" : note);
  std::vector<std::string> wanted = {"begin", "launch plain", "warm-up"};
  wanted.insert(wanted.end(), of_a_depth.begin(), of_a_depth.end());
  for (const char* fill : {"fill 100", "fill 400"}) {
    wanted.emplace_back(fill);
    wanted.insert(wanted.end(), of_a_depth.begin(), of_a_depth.end());
  }
  wanted.insert(wanted.end(), {"launch end", "end"});
  EXPECT_EQ(seen, wanted) << testing::PrintToString(journal.notes);
  const auto& launch = trace->launches.at(0);
  ASSERT_EQ(launch.fills.size(), 2u);
  EXPECT_EQ(launch.fills[1].fill->tokens, 300);
  std::map<std::string, int> classes;
  for (const auto& request : launch.requests) {
    if (request.warm_up) continue;
    ++classes[request.workload_class];
    EXPECT_EQ(request.workload_class, trace::class_at("code", request.filled_tokens));
    EXPECT_GE(request.passes.front().depth, request.filled_tokens);
    EXPECT_EQ(request.prefill.prompt_tokens - request.prefill.processed_tokens,
              request.filled_tokens);
  }
  EXPECT_EQ(classes, (std::map<std::string, int>{{"code", 3}, {"code@100", 3}, {"code@400", 3}}));
  EXPECT_FALSE(launch.widths.front().on_filled);
  EXPECT_TRUE(launch.widths.back().on_filled);
  EXPECT_EQ(launch.widths.back().depth, 400);
}

TEST_F(StudyRun, a_depth_that_cannot_be_reached_leaves_the_shallower_ones) {
  options.rounds = 1;
  options.arms[0].setup.n_ctx = options.arms[1].setup.n_ctx = 300;
  options.depths = {100, 400, 800};
  const auto trace = run();
  ASSERT_TRUE(trace) << trace.error().message;
  for (const auto& launch : trace->launches) {
    ASSERT_EQ(launch.fills.size(), 2u);
    EXPECT_TRUE(launch.fills[0].fill);
    EXPECT_FALSE(launch.fills[1].fill);
    EXPECT_EQ(launch.fills[1].outcome.kind, trace::OutcomeKind::refused);
    EXPECT_EQ(launch.outcome.kind, trace::OutcomeKind::done);
    EXPECT_EQ(launch.requests.size(), 4u);
  }
}

TEST_F(StudyRun, puts_every_launch_under_its_loads_after_the_requests_that_ran_alone) {
  options.rounds = 2;
  options.arms.pop_back();
  options.loads.levels = {1};
  options.loads.requests = 5;
  const auto trace = run();
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->launches.size(), 2u);
  EXPECT_EQ(journal.notes[6], "closed loop");
  for (const auto& launch : trace->launches) {
    ASSERT_EQ(launch.loads.size(), 1u);
    ASSERT_EQ(launch.loads[0].requests.size(), 5u);
    std::set<std::pair<std::string, int>> asked;
    std::set<std::uint32_t> seeds;
    for (const auto& request : launch.loads[0].requests) {
      EXPECT_EQ(request.outcome.kind, trace::OutcomeKind::done);
      EXPECT_EQ(request.workload_class, "code");
      asked.insert({request.prompt_id, request.repetition});
      seeds.insert(request.seed);
    }
    EXPECT_EQ(asked.size(), 5u) << "three prompts, two of them once more";
    EXPECT_EQ(seeds.size(), 5u);
  }
}

TEST_F(StudyRun, reads_a_local_engines_memory_before_and_after_loading_and_after_the_run) {
  options.rounds = 1;
  options.arms.pop_back();
  make_local = true;
  const auto trace = run();
  ASSERT_TRUE(trace);
  const auto& readings = trace->launches.at(0).memory;
  ASSERT_EQ(readings.size(), 3u);
  EXPECT_EQ(readings[0].when, trace::MemoryMoment::before_load);
  EXPECT_FALSE(readings[0].pss_bytes) << "nothing ran yet";
  EXPECT_EQ(readings[1].when, trace::MemoryMoment::after_load);
  EXPECT_EQ(readings[2].when, trace::MemoryMoment::after_run);
  EXPECT_TRUE(readings[2].pss_bytes || !readings[2].reason.empty());
  EXPECT_EQ(std::count(journal.notes.begin(), journal.notes.end(), "memory"), 3);
}

TEST_F(StudyRun, reads_no_memory_of_an_engine_that_is_not_on_this_machine) {
  options.rounds = 1;
  const auto trace = run();
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->launches.at(0).memory.empty());
}

TEST_F(StudyRun, goes_on_after_a_launch_that_crashed) {
  world->truth.faults = {Fault{FaultKind::crash, 2, 2, 3}};
  const auto trace = run();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->launches.size(), 6u);
  const auto& lost = trace->launches[2];
  EXPECT_EQ(lost.outcome.kind, trace::OutcomeKind::crashed);
  EXPECT_EQ(lost.requests.back().outcome.kind, trace::OutcomeKind::crashed);
  EXPECT_EQ(lost.requests.size(), 3u) << "a warm-up, a request, and the one that crashed";
  EXPECT_EQ(trace->launches[3].outcome.kind, trace::OutcomeKind::done);
  EXPECT_EQ(trace->launches[5].requests.size(), 4u);
}

TEST_F(StudyRun, gives_up_an_engine_that_hangs_and_goes_on) {
  world->truth.faults = {Fault{FaultKind::hang, 0, 1, 0}};
  const auto trace = run();
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->launches[0].outcome.kind, trace::OutcomeKind::timed_out);
  EXPECT_EQ(trace->launches.size(), 6u);
}

TEST_F(StudyRun, stops_at_once_when_an_arm_is_refused) {
  world->truth.faults = {Fault{FaultKind::refuse_open, 1, 0, 0}};
  const auto trace = run();
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->launches.size(), 2u);
  EXPECT_EQ(trace->launches[1].outcome.kind, trace::OutcomeKind::refused);
  EXPECT_FALSE(trace->launches[1].facts);
}

TEST_F(StudyRun, keeps_what_is_finished_when_the_user_stops_it) {
  stop_after_asks = 150;
  const auto trace = run();
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->interrupted);
  EXPECT_LT(trace->launches.size(), 6u);
  EXPECT_GT(count(*trace, "plain", trace::OutcomeKind::done) +
                count(*trace, "dflash-n7", trace::OutcomeKind::done),
            0);
  EXPECT_EQ(journal.notes.back(), "end");
}

TEST_F(StudyRun, times_no_wider_passes_for_n_grams_than_for_plain) {
  options.widths = true;
  options.widest = 10;
  options.arms[1].setup.spec_type = trace::SpecType::ngram_mod;
  options.arms[1].setup.draft_n_max = 0;
  options.arms[1].setup.ngram.size_m = 64;
  const auto trace = run();
  ASSERT_TRUE(trace);
  for (const auto& launch : trace->launches) EXPECT_EQ(launch.widths.back().width, 10);
  options.arms[1].setup.ngram.size_m = 7;
  const auto short_drafts = run();
  EXPECT_EQ(short_drafts->launches.back().widths.back().width,
            short_drafts->launches.back().arm == "plain" ? 10 : 8);
}

TEST_F(StudyRun, times_widths_up_to_the_widest_on_plain_and_to_its_own_on_a_drafting_arm) {
  options.widths = true;
  options.widest = 10;
  const auto trace = run();
  ASSERT_TRUE(trace);
  for (const auto& launch : trace->launches) {
    ASSERT_FALSE(launch.widths.empty());
    EXPECT_EQ(launch.widths.back().width, launch.arm == "plain" ? 10 : 8);
    EXPECT_EQ(launch.widths.front().width, 1);
  }
}

TEST_F(StudyRun, measures_phases_in_launches_of_their_own) {
  options.phases = true;
  const auto trace = run();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->launches.size(), 8u);
  for (const auto& launch : trace->launches)
    for (const auto& request : launch.requests)
      EXPECT_EQ(request.synced, launch.round == 3) << "round " << launch.round;
}

/// The drafting arm says another text of prompt b from its third token on.
void stray_on_b(engine::simulated::Truth& truth) {
  truth.acceptance = [](const trace::Setup&, std::string_view) {
    return std::vector<double>(7, 1.0);
  };
  truth.strays_at = [](const trace::Setup& setup, std::string_view prompt) {
    const bool strays = setup.spec_type != trace::SpecType::none && prompt == "text of b";
    return strays ? std::optional(2) : std::nullopt;
  };
}

TEST_F(StudyRun, has_a_fresh_plain_engine_read_the_text_again_that_an_arm_did_not_say) {
  for (auto& arm : options.arms) arm.sampling.temp = 0;
  stray_on_b(world->truth);
  world->truth.top2_margin = 0.125;
  world->truth.logit_difference = [](int width) { return width * 0.5; };
  const auto trace = run();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->launches.size(), 7u);
  const auto& last = trace->launches.back();
  EXPECT_EQ(last.arm, "plain");
  EXPECT_EQ(last.round, 3) << "past the planned rounds 0 to 2";
  EXPECT_TRUE(last.requests.empty());
  ASSERT_EQ(last.rereadings.size(), 1u);
  ASSERT_EQ(last.rereadings[0].margins.size(), 1u);
  EXPECT_EQ(last.rereadings[0].margins[0].prompt_id, "b");
  EXPECT_EQ(last.rereadings[0].margins[0].token, 3);
  EXPECT_EQ(last.rereadings[0].margins[0].top2, 0.125);
  ASSERT_EQ(last.rereadings[0].widths.size(), 1u) << "only the width that said it";
  EXPECT_EQ(last.rereadings[0].widths[0].width, 8);
  EXPECT_EQ(last.rereadings[0].widths[0].p99, 4);
  EXPECT_EQ(journal.notes[journal.notes.size() - 3], "rereading");
}

TEST_F(StudyRun, reads_nothing_again_when_texts_are_equal_or_sampled) {
  const auto sampled = [&] {
    stray_on_b(world->truth);
    return run()->launches.size();
  };
  EXPECT_EQ(sampled(), 6u);
  for (auto& arm : options.arms) arm.sampling.temp = 0;
  world->truth.strays_at = engine::simulated::Truth{}.strays_at;
  EXPECT_EQ(run()->launches.size(), 6u);
}

std::vector<std::int32_t> tokens_of(const trace::Request& request) {
  std::vector<std::int32_t> tokens;
  for (const auto& emission : request.emissions)
    tokens.insert(tokens.end(), emission.tokens.begin(), emission.tokens.end());
  return tokens;
}

TEST_F(StudyRun, has_all_arms_follow_the_text_that_plain_gave_first) {
  stray_on_b(world->truth);
  options.force_text = true;
  const auto trace = run();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->launches.size(), 7u);
  const auto& first = trace->launches.front();
  EXPECT_EQ(first.arm, "plain");
  EXPECT_EQ(first.round, 3) << "past the planned rounds, so that no figure is made of it";
  std::map<std::string, std::vector<std::int32_t>> texts;
  for (const auto& request : first.requests) {
    EXPECT_TRUE(request.warm_up) << "discarded from every figure";
    texts[request.prompt_id] = tokens_of(request);
    EXPECT_EQ(texts[request.prompt_id].size(), 20u);
  }
  ASSERT_EQ(texts.size(), 3u);
  for (std::size_t i = 1; i < trace->launches.size(); ++i)
    for (const auto& request : trace->launches[i].requests)
      if (!request.warm_up) {
        EXPECT_EQ(tokens_of(request), texts.at(request.prompt_id));
      }
}

TEST_F(StudyRun, measures_nothing_when_plain_gave_no_text_to_follow) {
  options.force_text = true;
  world->truth.faults = {Fault{FaultKind::crash, 0, 0, 0}};
  const auto trace = run();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->launches.size(), 1u);
  EXPECT_EQ(trace->launches[0].outcome.kind, trace::OutcomeKind::crashed);
}

TEST_F(StudyRun, refuses_a_prompt_that_plain_gave_no_text_of) {
  options.force_text = true;
  options.prompts.measured[1].text = "";
  const auto trace = run();
  ASSERT_TRUE(trace);
  EXPECT_EQ(count(*trace, "dflash-n7", trace::OutcomeKind::refused), 3);
  EXPECT_EQ(count(*trace, "dflash-n7", trace::OutcomeKind::done), 6);
}

TEST_F(StudyRun, that_cannot_be_taken_down_any_more_is_an_error_and_keeps_what_it_measured) {
  journal.fail_after = 15;
  const auto trace = run();
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "disk full");
  EXPECT_GE(measured_before_the_end, 2u);
}

/// Texts differ within types of the KV cache, not between them.
TEST_F(StudyRun, has_each_plain_arm_read_its_own_text_again) {
  for (auto& arm : options.arms) arm.sampling.temp = 0;
  for (const std::size_t i : {0u, 1u}) {
    options.arms.push_back(options.arms[i]);
    options.arms.back().name += "@k:q8_0";
    options.arms.back().plain = "plain@k:q8_0";
    options.arms.back().setup.kv.k = "q8_0";
  }
  stray_on_b(world->truth);
  const auto all_stray = world->truth.strays_at;
  world->truth.strays_at = [all_stray](const trace::Setup& setup, std::string_view prompt) {
    return setup.kv.k ? all_stray(setup, prompt) : std::nullopt;
  };
  const auto trace = run();
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->launches.size(), 13u) << "4 arms, 3 rounds, and one more";
  EXPECT_EQ(trace->launches.back().arm, "plain@k:q8_0");
  world->truth.strays_at = all_stray;
  const auto both = run();
  ASSERT_TRUE(both);
  ASSERT_EQ(both->launches.size(), 14u);
  EXPECT_EQ(both->launches[12].arm, "plain");
  EXPECT_EQ(both->launches[13].arm, "plain@k:q8_0");
}

}  // namespace
}  // namespace paceline::study
