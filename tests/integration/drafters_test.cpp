#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/worker_process.hpp"
#include "trace/names.hpp"

namespace paceline {
namespace {

using support::expect_same_text;
using support::greedy;
using support::JobReport;
using support::lab_setup;
using support::WorkerProcess;
using trace::OutcomeKind;
using trace::SpecType;

/// Texts that say the same again, so that n-grams have something to find from the first pass on.
std::vector<std::string> repeating_prompts() {
  const std::string list = "{\"a\": 1, \"b\": 2}, ";
  const std::string prose =
      "The ship went down to the sea. The ship went down to the sea. The ship ";
  return {list + list + list + list, prose, "one two three one two three one two"};
}

trace::Setup with_ngrams_first(SpecType last) {
  trace::Setup setup = lab_setup(last, last == SpecType::draft_dflash ? 5 : 3);
  setup.asked_first = {
      {SpecType::ngram_simple, {.size_n = 3, .size_m = 4, .min_hits = {}, .n_min = {}}}};
  return setup;
}

/// Each kind of drafter with a model: those that go on from the accepted token are told of drafts
/// that are not theirs before they have made any, where llama.cpp would abort.
TEST(SeveralDrafters, KeepTheTextAndSayWhoDraftedEachPass) {
  WorkerProcess plain;
  ASSERT_EQ(plain.open(lab_setup(SpecType::none)).outcome.kind, OutcomeKind::done);
  for (const SpecType last : {SpecType::draft_mtp, SpecType::draft_eagle3, SpecType::draft_dflash,
                              SpecType::draft_dspark, SpecType::draft_simple}) {
    const std::string name = util::enum_name(last);
    WorkerProcess worker;
    const auto opened = worker.open(with_ngrams_first(last));
    ASSERT_EQ(opened.outcome.kind, OutcomeKind::done) << opened.outcome.reason;
    ASSERT_EQ(opened.facts->asked_first.size(), 1u);
    EXPECT_EQ(opened.facts->asked_first[0].sizes.size_m, 4);
    std::map<std::string, int> passes;
    for (const auto& prompt : repeating_prompts()) {
      const auto job = greedy(prompt, 64);
      const JobReport without = plain.run(job);
      const JobReport report = worker.run(job);
      ASSERT_EQ(report.finished.outcome.kind, OutcomeKind::done) << name;
      expect_same_text(without, report.tokens(), name);
      EXPECT_EQ(report.residual(), 0) << name;
      for (const auto& pass : report.passes) {
        if (pass.kind == trace::PassKind::replay || pass.attempts == 0) continue;
        ++passes[pass.drafter];
        EXPECT_EQ(pass.attempts, pass.drafter == "ngram-simple" ? 1 : 2) << name;
        EXPECT_LE(pass.offered, pass.drafter == "ngram-simple" ? 4 : 5) << name;
      }
    }
    EXPECT_GT(passes["ngram-simple"], 3) << name;
    EXPECT_GT(passes[name], 3) << name;
  }
}

/// What the library says of its own sampler: ten candidates from the device, or all logits.
TEST(BackendSampling, IsWhatTheLibraryIsSeenToDo) {
  for (const SpecType type : {SpecType::draft_mtp, SpecType::draft_eagle3, SpecType::draft_dflash,
                              SpecType::draft_dspark}) {
    trace::Setup setup = lab_setup(type);
    WorkerProcess on_device;
    const auto device = on_device.open(setup);
    ASSERT_EQ(device.outcome.kind, OutcomeKind::done) << device.outcome.reason;
    EXPECT_EQ(device.facts->draft_on_device, true) << util::enum_name(type);
    EXPECT_EQ(device.facts->draft_candidates, 10) << util::enum_name(type);
    setup.backend_sampling = false;
    WorkerProcess on_host;
    const auto host = on_host.open(setup);
    ASSERT_EQ(host.outcome.kind, OutcomeKind::done) << host.outcome.reason;
    EXPECT_EQ(host.facts->draft_on_device, false) << util::enum_name(type);
    EXPECT_FALSE(host.facts->draft_candidates.has_value()) << util::enum_name(type);
    const auto job = greedy(repeating_prompts()[1], 32);
    EXPECT_EQ(on_device.run(job).tokens(), on_host.run(job).tokens()) << util::enum_name(type);
  }
  WorkerProcess simple;
  EXPECT_EQ(simple.open(lab_setup(SpecType::draft_simple)).facts->draft_on_device, false);
}

TEST(Placement, IsToldOfTargetAndDrafter) {
  WorkerProcess worker;
  const auto opened = worker.open(lab_setup(SpecType::draft_dflash));
  ASSERT_TRUE(opened.facts.has_value());
  ASSERT_TRUE(opened.facts->target_placement && opened.facts->drafter_placement);
  EXPECT_TRUE(opened.facts->target_placement->graph_splits.has_value());
  EXPECT_TRUE(opened.facts->drafter_placement->graph_splits.has_value());
}

}  // namespace
}  // namespace paceline
