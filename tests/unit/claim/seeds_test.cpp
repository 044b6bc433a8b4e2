#include "judged.hpp"

// DEFINITIONS 12: what the two articles print, and what must follow.

namespace paceline::claim {
namespace {

using testing::HasSubstr;

TEST(ClaimedSeeds, SpeedsAndLengthsGivePassesPerSecond) {
  const auto claim = judge_given(
      {"tps=29.3,tau=3.60", "tps=25.5,tau=2.96", "tps=20.2,tau=3.63", "tps=26.6,tau=1.00"});
  EXPECT_NEAR(value(claim.rows[0], "passes_per_s"), 8.14, 0.005);
  EXPECT_NEAR(value(claim.rows[1], "passes_per_s"), 8.61, 0.005);
  EXPECT_NEAR(value(claim.rows[2], "passes_per_s"), 5.56, 0.005);
  EXPECT_NEAR(value(claim.rows[3], "passes_per_s"), 26.6, 0.005);
}

TEST(ClaimedSeeds, FullDraftsGiveTokensPerPassAndThatNarrowPassesAreNotTheFastestIsFlagged) {
  const auto claim = judge_given(
      {"k=4,accept=47.46%,tps=34.50,full=yes", "k=8,accept=27.00%,tps=40.54,full=yes",
       "k=12,accept=20.33%,tps=42.22,full=yes", "k=15,accept=17.99%,tps=47.20,full=yes"});
  const double tokens[] = {2.90, 3.16, 3.44, 3.70};
  const double passes[] = {11.90, 12.83, 12.27, 12.76};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(value(claim.rows[i], "tokens_per_pass"), tokens[i], 0.005);
    EXPECT_NEAR(value(claim.rows[i], "passes_per_s"), passes[i], 0.005);
  }
  ASSERT_TRUE(contradicts(claim, "pass_order"));
  EXPECT_THAT(contradictions(claim), HasSubstr("passes of draft length 4 (11.90"));
}

// A narrower row that is faster still hides nothing.
TEST(ClaimedSeeds, ARowIsHeldAgainstWiderRowsOnly) {
  const auto claim =
      judge_given({"k=1,accept=90.00%,tps=40.00,full=yes", "k=4,accept=47.46%,tps=34.50,full=yes",
                   "k=8,accept=27.00%,tps=40.54,full=yes"});
  ASSERT_EQ(claim.contradictions.size(), 1U) << contradictions(claim);
  EXPECT_EQ(claim.contradictions[0].row, "given 2");
}

TEST(ClaimedSeeds, PlainSpeedGivesTheCostOfAPass) {
  const auto claim = judge_given({"base=17.98,spec=84.64,accept=38.67%,k=15,full=yes",
                                  "base=17.98,spec=78.29,accept=36.18%,k=15,full=yes",
                                  "base=17.98,spec=38.34,accept=14.41%,k=15,full=yes"});
  const double tokens[] = {6.80, 6.43, 3.16};
  const double passes[] = {12.45, 12.18, 12.13};
  const double costs[] = {1.44, 1.48, 1.48};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(value(claim.rows[i], "tokens_per_pass"), tokens[i], 0.005);
    EXPECT_NEAR(value(claim.rows[i], "passes_per_s"), passes[i], 0.005);
    EXPECT_NEAR(value(claim.rows[i], "pass_cost"), costs[i], 0.005);
  }
  EXPECT_EQ(contradictions(claim), "");
}

TEST(ClaimedSeeds, TheArticlesOwnContradictionsAreFound) {
  const auto claim =
      judge_given({"name=best,base=17.98,spec=84.64,accept=38.67%,k=15,full=yes,speedup=4.50x",
                   "name=code,base=17.98,spec=80.87,accept=36.18%,k=15,full=yes,tau=6.39",
                   "name=min-p,base=17.98,spec=78.29,accept=36.18%,k=15,full=yes"});
  const std::string found = contradictions(claim);
  EXPECT_THAT(found, HasSubstr("speedup is given as 4.50"));
  EXPECT_THAT(found, HasSubstr("80.87 / 17.98 of row \"code\" is that ratio"));
  EXPECT_THAT(found, HasSubstr("1 + draft_limit * acceptance is 6.43"));
  EXPECT_THAT(found, HasSubstr("stands beside both 80.87 and 78.29"));
  EXPECT_THAT(found, HasSubstr("12.58 and 12.18 passes per second"));
  EXPECT_EQ(claim.contradictions.size(), 3U) << found;
}

TEST(ClaimedSeeds, BytesAndBandwidthGiveTheCeiling) {
  const auto dense = judge_given({"params=27B,bits=4"});
  EXPECT_NEAR(value(dense.rows[0], "bytes_per_pass"), 13.5e9, 1);
  const auto sparse = judge_given({"tps=26.6,tau=1.00,bytes=2.6GB,bandwidth=273GB/s"});
  EXPECT_NEAR(value(sparse.rows[0], "ceiling_passes_per_s"), 105, 0.5);
  EXPECT_NEAR(value(sparse.rows[0], "ceiling_share"), 0.25, 0.005);
  EXPECT_EQ(contradictions(sparse), "");
  const auto faster = judge_given({"tps=126.6,tau=1.00,bytes=2.6GB,bandwidth=273GB/s"});
  EXPECT_TRUE(contradicts(faster, "ceiling"));
}

TEST(ClaimedSeeds, AMixIsTokensOverTotalTime) {
  const auto claim =
      judge_given({"class=code,spec=84.64,share=50%", "class=mixed,spec=38.34,share=50%"});
  ASSERT_EQ(claim.across.size(), 1U);
  EXPECT_NEAR(*claim.across[0].value, 52.8, 0.05);
  EXPECT_NEAR(*claim.across[0].low, 52.8, 0.6);
  EXPECT_NEAR(*claim.across[0].high, 52.8, 0.6);
  EXPECT_THAT(claim.across[0].rule, HasSubstr("61.49"));
  EXPECT_TRUE(contradicts(judge_given({"spec=84,share=50%", "spec=38,share=40%"}), "mix"));
}

TEST(ClaimedSeeds, AStatedPatIsHeldAgainstItsMix) {
  const std::vector<std::string> mix = {"class=code,spec=84.64,share=50%",
                                        "class=mixed,spec=38.34,share=50%"};
  EXPECT_EQ(contradictions(judge_given({mix[0], mix[1], "pat=52.8"})), "");
  const auto mean = judge_given({mix[0] + ",pat=61.5", mix[1]});
  ASSERT_EQ(mean.contradictions.size(), 1U);
  EXPECT_EQ(mean.contradictions[0].row, "given 1");
  EXPECT_THAT(mean.contradictions[0].says, HasSubstr("the mean of the rates"));
  EXPECT_NEAR(mean.contradictions[0].other, 52.8, 0.05);
}

TEST(ClaimedSeeds, EachArmHasAMixOfItsOwn) {
  const auto claim = judge_given(
      {"arm=plain,class=code,spec=18,share=50%", "arm=plain,class=mixed,spec=18,share=50%",
       "drafter=d,class=code,spec=84.64,share=50%", "drafter=d,class=mixed,spec=38.34,share=50%"});
  EXPECT_EQ(contradictions(claim), "");
  ASSERT_EQ(claim.across.size(), 2U);
  EXPECT_NEAR(*claim.across[0].value, 52.8, 0.05);
  EXPECT_NEAR(*claim.across[1].value, 18, 1e-9);
}

// Each class of an arm has half the tokens: of two quants or draft limits in one mix, shares would
// be 2, and of a row each there is no mix.
TEST(ClaimedSeeds, RowsOfTwoQuantsOrDraftLimitsAreNotMixed) {
  for (const std::vector<std::string>& two :
       {std::vector<std::string>{"quant=Q4_K_M", "quant=Q8_0"}, {"k=4", "k=15"}}) {
    const std::string code = ",class=code,spec=84.64,share=50%";
    const std::string mixed = ",class=mixed,spec=38.34,share=50%";
    const auto whole = judge_given({two[0] + code, two[0] + mixed, two[1] + code, two[1] + mixed});
    EXPECT_EQ(contradictions(whole), "") << two[0];
    ASSERT_EQ(whole.across.size(), 2U) << two[0];
    EXPECT_NEAR(*whole.across[0].value, 52.8, 0.05);
    EXPECT_NEAR(*whole.across[1].value, 52.8, 0.05);
    EXPECT_TRUE(judge_given({two[0] + code, two[1] + mixed}).across.empty()) << two[0];
  }
}

TEST(ClaimedSeeds, AShareWithoutASpeedSaysWhyThereIsNoPat) {
  const auto claim = judge_given({"class=code,spec=84.64,share=50%", "class=mixed,share=50%"});
  EXPECT_TRUE(claim.across.empty());
  EXPECT_EQ(reason(claim.rows[0], "pat_decode"), "");
  EXPECT_THAT(reason(claim.rows[1], "pat_decode"), HasSubstr("no tokens_per_s"));
}

TEST(ClaimedSeeds, UnpairedPerplexitiesTellNothing) {
  const auto claim = judge_given({"ppl=5.5420+-0.1179,spec=38.34", "ppl=5.5278,spec=33.50"});
  ASSERT_TRUE(remarks(claim, "quality_unpaired"));
  EXPECT_THAT(claim.remarks.back().says, HasSubstr("0.26 % lower"));
  EXPECT_THAT(claim.remarks.back().says, HasSubstr("nobody can tell"));
  EXPECT_THAT(claim.remarks.back().says, HasSubstr("-12.6 %"));
}

TEST(ClaimedSeeds, WithoutAWordOnDraftsOnlyBoundsFollow) {
  const auto claim = judge_given({"base=17.98,spec=84.64,accept=38.67%,k=15"});
  const Found tokens = find(claim.rows[0], "tokens_per_pass");
  EXPECT_FALSE(tokens.value);
  EXPECT_NEAR(*tokens.low, 4.71, 0.01);
  EXPECT_NEAR(*tokens.high, 6.80, 0.01);
  ASSERT_EQ(claim.rows[0].readings.size(), 3U);
  EXPECT_TRUE(claim.rows[0].readings[0].consistent);
  EXPECT_NEAR(*claim.rows[0].readings[0].pass_cost, 1.44, 0.005);
  EXPECT_FALSE(claim.rows[0].readings[1].consistent);
  EXPECT_EQ(claim.facts.verdict, "screenshot");
}

}  // namespace
}  // namespace paceline::claim
