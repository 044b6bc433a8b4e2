#include "report/demo.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::report {
namespace {

using document::Document;

class DemoParagraph : public ::testing::Test {
 protected:
  std::string said() const {
    return demo_paragraph(
        document::assemble(trace, summary, support::sample_mix(), support::sample_machine()));
  }
  bool says(const std::string& part) const { return said().find(part) != std::string::npos; }

  metrics::ClassSummary& of(std::size_t arm, std::size_t workload_class) {
    return summary.arms[arm].classes[workload_class];
  }

  trace::Trace trace = support::sample_trace();
  metrics::Summary summary = support::sample_summary();
};

TEST_F(DemoParagraph, SaysWhereAnArmPaysLosesAndCannotTell) {
  EXPECT_TRUE(
      says("mtp-n3: pays on json (1.56x); loses on prose (0.91x) and python (0.80x); "
           "cannot tell on c (1.00x)."))
      << said();
}

TEST_F(DemoParagraph, CannotTellWithoutAnInterval) {
  of(3, 3).speedup = {1.56, std::nullopt, std::nullopt, "", "", 3, "too few"};
  EXPECT_TRUE(says("cannot tell on c (1.00x) and json (1.56x).")) << said();
}

TEST_F(DemoParagraph, GivesTheReasonWhereThereIsNoSpeedup) {
  for (std::size_t arm = 1; arm < 4; ++arm)
    for (std::size_t workload_class = 0; workload_class < 4; ++workload_class)
      of(arm, workload_class).speedup = metrics::unknown("no plain arm");
  EXPECT_TRUE(
      says("mtp-n3: has no speed-up on prose (no plain arm), c (no plain arm), python (no "
           "plain arm) and json (no plain arm)."))
      << said();
  EXPECT_FALSE(says("A draft pays"));
}

TEST_F(DemoParagraph, ExplainsTheBestAndTheWorstByTokensPerPassAgainstCost) {
  EXPECT_TRUE(
      says("on json a pass of mtp-n3 makes 2.96 tokens for the time of 1.90 plain passes, "
           "on prose a pass of dflash-n7 makes 1.38 tokens for the time of 4.30 plain "
           "passes."))
      << said();
}

TEST_F(DemoParagraph, HoldsTheMostPredictableClassAgainstTheLeastOnOneArm) {
  EXPECT_TRUE(says("The text decides: mtp-n3 makes 2.96 tokens a pass on json and 1.52 on python."))
      << said();
  of(3, 3).tokens_per_pass.low = 1.4;
  EXPECT_FALSE(says("The text decides")) << "not where the intervals meet";
}

TEST_F(DemoParagraph, NamesTheArmWhoseLongestDraftMeetsTheSlowStep) {
  EXPECT_TRUE(
      says("The longest drafts of dflash-n7 (7 tokens) meet a slow step: a pass of 8 tokens "
           "takes 50.2 ms, one of 7 takes 27.4 ms, so 6 is the better longest draft to "
           "try."))
      << said();
}

TEST_F(DemoParagraph, HoldsTheArmOnTheStepAgainstTheOneBelowIt) {
  EXPECT_TRUE(
      says("dflash-n6, which drafts one token less than dflash-n7: faster on prose, c, "
           "python and json."))
      << said();
  // On prose the intervals now touch, on c the longer drafts win.
  of(1, 0).tokens_per_s = support::estimate(27, 26, 28);
  of(1, 1).tokens_per_s = support::estimate(20, 19, 21);
  EXPECT_TRUE(says("faster on python and json; slower on c; cannot tell on prose.")) << said();
}

TEST_F(DemoParagraph, SaysThatNoArmMeetsAStepThatLiesElsewhere) {
  trace.launches[2].facts->draft_n_max = 5;
  EXPECT_TRUE(
      says("Passes of 8 tokens are a slow step of the kernels; no arm's longest draft was "
           "seen to end on one."))
      << said();
}

TEST_F(DemoParagraph, SaysThatNoWidthStandsOut) {
  summary.curves[0].widths.resize(7);
  EXPECT_TRUE(says("No draft length meets a slow step of the kernels")) << said();
}

TEST_F(DemoParagraph, CannotTellAStepWithoutTimedWidths) {
  summary.curves.clear();
  EXPECT_TRUE(says("Passes were not timed by width")) << said();
}

TEST_F(DemoParagraph, WarnsOfTextThatLoops) {
  EXPECT_FALSE(says("repeats itself"));
  of(1, 0).looping = true;
  EXPECT_TRUE(says("The output of prose repeats itself, so classes are not to be compared here."))
      << said();
}

TEST_F(DemoParagraph, KeepsToTheseLaunchesWhenTheyAreFew) {
  EXPECT_FALSE(says("fewer than 3 launches"));
  summary.arms[2].launches_done = 2;
  EXPECT_TRUE(says("With fewer than 3 launches of an arm this holds for these launches only."));
}

TEST_F(DemoParagraph, SaysThatNothingSpeculates) {
  trace.header.arms.resize(1);
  summary.arms.resize(1);
  EXPECT_EQ(said(),
            "No arm speculates: every pass makes one token, and tokens per second are passes per "
            "second.");
}

TEST_F(DemoParagraph, SaysThatNothingWasMeasured) {
  for (auto& arm : summary.arms) arm.classes.clear();
  EXPECT_EQ(said(), "Nothing was measured that could tell whether speculation pays.");
}

}  // namespace
}  // namespace paceline::report
