#include "document/workload.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

const trace::Arm plain = support::sample_arm("plain", trace::SpecType::none, 0);
const trace::Arm dflash = support::sample_arm("dflash-n6", trace::SpecType::draft_dflash, 6);

metrics::ClassSummary drafted() {
  return support::sample_class({"json", 3.5, 2.5, 300, 90}, false);
}

TEST(ToWorkload, GivesTheRatesOfEachDraftPosition) {
  auto summary = drafted();
  summary.counts.passes_speculative = 100;
  summary.counts.positions = {{100, 100, 60}, {80, 50, 25}, {0, 0, 0}};
  const auto positions = to_workload(summary, dflash, {}, {}).acceptance.positions;
  ASSERT_EQ(positions.size(), 3u);
  EXPECT_EQ(positions[0].position, 1);
  EXPECT_DOUBLE_EQ(*positions[1].unconditional.value, 0.25);
  EXPECT_DOUBLE_EQ(*positions[1].of_offered.value, 0.3125);
  EXPECT_DOUBLE_EQ(*positions[1].conditional.value, 0.5);
  EXPECT_FALSE(positions[2].of_offered.value);
  EXPECT_FALSE(positions[2].of_offered.reason.empty());
}

TEST(ToWorkload, NamesTheDrafterBesideItsCounts) {
  const auto workload = to_workload(drafted(), dflash, {}, {});
  ASSERT_EQ(workload.acceptance.by_drafter.size(), 1u);
  EXPECT_EQ(workload.acceptance.by_drafter[0].drafter, "draft-dflash");
  EXPECT_EQ(workload.acceptance.by_drafter[0].offered.value, 300);
  EXPECT_EQ(workload.acceptance.by_drafter[0].accepted.value, 90);
  EXPECT_TRUE(to_workload(support::sample_class({"c", 1, 1, 0, 0}, true), plain, {}, {})
                  .acceptance.by_drafter.empty());
}

TEST(ToWorkload, ShowsTheResidualOfThePassesOrWhyThereIsNone) {
  auto summary = drafted();
  summary.counts.residual_passes = -1;
  const auto residual = to_workload(summary, dflash, {}, {}).decode.residual_passes;
  EXPECT_EQ(residual.value, -1);
  summary.counts.passes = 0;
  EXPECT_FALSE(to_workload(summary, dflash, {}, {}).decode.residual_passes.value);
}

TEST(ToWorkload, FindsTheDepthsOfCountedPassesOfTheClassAndArm) {
  auto trace = support::sample_trace();
  trace.launches[1].requests[0].passes[2].depth = 412;
  // None of these is behind a figure of this class and arm.
  trace.launches[1].requests[1].passes[0].depth = 900;
  trace.launches[0].requests[0].passes[0].depth = 900;
  trace.launches[5].requests[0].warm_up = true;
  trace.launches[5].requests[0].passes[0].depth = 900;
  trace.launches[9].requests.resize(1);
  trace.launches[9].outcome.kind = trace::OutcomeKind::crashed;
  trace.launches[9].requests[0].passes[0].depth = 900;
  auto summary = drafted();
  summary.workload_class = "prose";
  const auto depth = to_workload(summary, dflash, trace, {}).depth;
  ASSERT_TRUE(depth.value);
  EXPECT_EQ(depth.value->lowest, 100);
  EXPECT_EQ(depth.value->highest, 412);
  EXPECT_FALSE(to_workload(summary, dflash, {}, {}).depth.value);
}

TEST(ToWorkload, SaysWhyLosslessnessIsNotKnown) {
  EXPECT_NE(to_workload(drafted(), dflash, {}, {}).lossless.reason.find("sampled"),
            std::string::npos);
  auto greedy = dflash;
  greedy.sampling.temp = 0;
  EXPECT_NE(to_workload(drafted(), greedy, {}, {}).lossless.reason.find("greedy text"),
            std::string::npos);
  auto summary = drafted();
  summary.lossless = {10, 9, "differs, cause unknown: first at token 7 of prompt p"};
  const auto lossless = to_workload(summary, greedy, {}, {}).lossless;
  ASSERT_TRUE(lossless.value);
  EXPECT_EQ(lossless.value->equal, 9);
}

TEST(ToWorkload, SaysOfEveryTextWhatItWasJudgedBy) {
  auto summary = drafted();
  summary.lossless = {2, 1, "wrong", metrics::Verdict::wrong, 0, 0, 1, {}};
  summary.lossless->each = {
      {"p", metrics::Verdict::equal, std::string(64, 'a'), std::string(64, 'a'), 0, 0, {}, {}},
      {"q", metrics::Verdict::wrong, std::string(64, 'b'), "", 7, 8, 0.5, 0.25}};
  const auto lossless = *to_workload(summary, dflash, {}, {}).lossless.value;
  EXPECT_EQ(lossless.verdict, "wrong");
  ASSERT_EQ(lossless.each.size(), 2u);
  EXPECT_EQ(lossless.each[0].digest.value, std::string(64, 'a'));
  EXPECT_EQ(lossless.each[0].first_difference.reason, "the texts are equal");
  EXPECT_FALSE(lossless.each[1].plain_digest.value);
  EXPECT_EQ(lossless.each[1].first_difference.value, 7);
  EXPECT_EQ(lossless.each[1].width.value, 8);
  EXPECT_EQ(lossless.each[1].margin.value, 0.5);
  EXPECT_EQ(lossless.each[1].near_tie_limit.value, 0.25);
}

TEST(ToWorkload, ClaimsNoLosslessnessOfTextsThatWereForced) {
  trace::Trace trace;
  trace.header.force_text = true;
  EXPECT_NE(to_workload(drafted(), dflash, trace, {}).lossless.reason.find("by construction"),
            std::string::npos);
}

TEST(ToWorkload, KeepsPhasesUnknownWithoutASyncedRun) {
  auto summary = drafted();
  EXPECT_FALSE(to_workload(summary, dflash, {}, {}).phases.value);
  summary.phases = metrics::PhaseSummary{1, 2, 3, 4, 5, 6, 7, 8, 36, 35, 9};
  const auto phases = to_workload(summary, dflash, {}, {}).phases;
  ASSERT_TRUE(phases.value);
  EXPECT_EQ(phases.value->draft_s, 1);
  EXPECT_EQ(phases.value->rollback_s, 7);
  EXPECT_EQ(phases.value->other_s, 8);
  EXPECT_EQ(phases.value->synced_total_s, 36);
  EXPECT_EQ(phases.value->unsynced_total_s, 35);
  EXPECT_FALSE(phases.value->overlap_s.value) << "nobody worked it out";
  summary.phases->overlap_s = 1;
  EXPECT_EQ(to_workload(summary, dflash, {}, {}).phases.value->overlap_s.value, 1);
}

TEST(ToWorkload, GivesEachOfSeveralDraftersItsOwnCounts) {
  auto arm = support::sample_arm("both", trace::SpecType::draft_mtp, 3);
  arm.setup.asked_first = {{trace::SpecType::ngram_simple, {}}};
  auto summary = drafted();
  summary.counts.by_drafter = {{"", {0, metrics::Count::unknown("cut short"), 0, 0, 0}},
                               {"draft-mtp", {6, 18, 17, 12, 9}},
                               {"ngram-simple", {4, 28, 24, 16, 14}}};
  summary.counts.asked = {12, 8};
  const auto drafters = to_workload(summary, arm, {}, {}).acceptance.by_drafter;
  ASSERT_EQ(drafters.size(), 2u);
  EXPECT_EQ(drafters[0].drafter, "ngram-simple");
  EXPECT_EQ(drafters[0].attempts.value, 12);
  EXPECT_EQ(drafters[0].passes_speculative.value, 4);
  EXPECT_EQ(drafters[0].generated.value, 28);
  EXPECT_EQ(drafters[0].accepted.value, 14);
  EXPECT_EQ(drafters[1].drafter, "draft-mtp");
  EXPECT_EQ(drafters[1].attempts.value, 8);
  EXPECT_EQ(drafters[1].offered.value, 17);
  EXPECT_EQ(drafters[1].generated.reason, "cut short") << "two of its eight drafts came to nothing";
  arm.setup.server_bin = "llama-server";
  const auto served = to_workload(summary, arm, {}, {}).acceptance.by_drafter;
  ASSERT_EQ(served.size(), 2u);
  EXPECT_FALSE(served[0].attempts.value);
  EXPECT_FALSE(served[0].attempts.reason.empty());
}

TEST(ToWorkload, CountsPassesByTheirWidth) {
  auto summary = drafted();
  summary.counts.widths = {{1, 3}, {7, 20}};
  const auto widths = to_workload(summary, dflash, {}, {}).widths;
  ASSERT_TRUE(widths.value);
  ASSERT_EQ(widths.value->by_width.size(), 2u);
  EXPECT_EQ(widths.value->by_width[1].width, 7);
  EXPECT_EQ(widths.value->by_width[1].passes, 20);
  auto served = dflash;
  served.setup.url = "http://localhost:1";
  EXPECT_FALSE(to_workload(summary, served, {}, {}).widths.value);
}

}  // namespace
}  // namespace paceline::document
