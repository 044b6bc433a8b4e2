#include "claim/number.hpp"
#include "judged.hpp"

namespace paceline::claim {
namespace {

struct Text {
  const char* text;
  Figure figure;
  std::optional<double> value;
  double low;
  double high;
};

TEST(ClaimNumbers, DigitsStandForAllThatTheyCanMean) {
  using enum Figure;
  const Text texts[] = {
      {"17.98", tokens_per_s, 17.98, 17.975, 17.985},
      {"84.64 tok/s", tokens_per_s, 84.64, 84.635, 84.645},
      {"23t/s", tokens_per_s, 23, 22.5, 23.5},
      {"38.67%", acceptance, 0.3867, 0.38665, 0.38675},
      {"0.3867", acceptance, 0.3867, 0.38665, 0.38675},
      {"118", accepted, 118, 118, 118},
      {"1,024", tokens, 1024, 1024, 1024},
      {"262k", depth, 262e3, 261.5e3, 262.5e3},
      {"27B", parameters, 27e9, 26.5e9, 27.5e9},
      {"~4", tokens_per_pass, 4, 3, 5},
      {"6.5-6.8", tokens_per_s, std::nullopt, 6.45, 6.85},
      {"6.5..6.8 tok/s", tokens_per_s, std::nullopt, 6.45, 6.85},
      {"84.64+-0.5", tokens_per_s, 84.64, 84.14, 85.14},
      {"46.70 \xC2\xB1 0.30", tokens_per_s, 46.7, 46.4, 47.0},
      {"0.042532 _ 0.000364", perplexity, 0.042532, 0.042168, 0.042896},
      {"4.50x", speedup, 4.5, 4.495, 4.505},
      {"+79%", speedup, 1.79, 1.785, 1.795},
      {"-32.1 %", speedup, 0.679, 0.6785, 0.6795},
      {"7.07 ms", seconds_per_token, 7.07e-3, 7.065e-3, 7.075e-3},
      {"273 GB/s", bandwidth, 273e9, 272.5e9, 273.5e9},
      {"273e9", bandwidth, 273e9, 272.5e9, 273.5e9},
      {"1.5 GiB", file_bytes, 1.5 * 1073741824, 1.45 * 1073741824, 1.55 * 1073741824},
  };
  for (const Text& one : texts) {
    const auto range = parse_figure(one.text, one.figure);
    ASSERT_TRUE(range) << one.text;
    ASSERT_EQ(range->value.has_value(), one.value.has_value()) << one.text;
    if (one.value) {
      EXPECT_NEAR(*range->value, *one.value, 1e-9 * *one.value) << one.text;
    }
    EXPECT_NEAR(range->low, one.low, 1e-9 * one.low) << one.text;
    EXPECT_NEAR(range->high, one.high, 1e-9 * one.high) << one.text;
  }
}

TEST(ClaimNumbers, WhatIsNoFigureOfItsKindIsNone) {
  using enum Figure;
  for (const char* const text : {"", "fast", "inf", "nan", "-nan(ind)", "n/a", "12 apples", "1.2.3",
                                 "12 GB", "-5", "84.64+-", "9-3", "\xFF"})
    EXPECT_FALSE(parse_figure(text, tokens_per_s)) << text;
  EXPECT_FALSE(parse_figure("12 tok/s", accepted));
  EXPECT_FALSE(parse_figure(std::string(100, '9'), accepted));
}

TEST(ClaimGiven, NamesAreThoseThatPeopleWrite) {
  const auto row = parse_given("Base=17.98,spec=84.64,name=a, b=c d,K=15,build=b9030, llama", 1);
  ASSERT_FALSE(row);  // b is no name
  const auto good = parse_given("base=17.98,spec=84.64,name=a, or so,K=15,build=b9030, x", 1);
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->label, "a, or so");
  EXPECT_EQ(good->context.at("build"), "b9030, x");
  EXPECT_EQ(good->find(Figure::draft_limit)->range.value, 15);
}

TEST(ClaimGiven, ATokenThatMayBeCountedOrNotMakesTwoBounds) {
  const auto claim = judge_given({"tokens=192,accepted=118,drafted=144"});
  EXPECT_EQ(find(claim.rows[0], "passes").low, 73);
  EXPECT_EQ(find(claim.rows[0], "passes").high, 74);
  const auto nine = judge_given({"tokens=1728,accepted=984,drafted=991,requests=9"});
  EXPECT_EQ(find(nine.rows[0], "passes").low, 1728 - 984 - 9);
}

TEST(ClaimGiven, PositionsAreAList) {
  const auto claim = judge_given({"positions=0.805/0.632/0.483,accepted=167,rounds=87,k=3"});
  EXPECT_EQ(contradictions(claim), "");
  EXPECT_NEAR(value(claim.rows[0], "acceptance_length"), 2.92, 0.001);
  EXPECT_TRUE(contradicts(judge_given({"positions=0.60/0.70/0.10,tau=2.30,k=3"}), "positions"));
  EXPECT_TRUE(contradicts(judge_given({"positions=0.80/0.60/0.50,tau=3.40,k=3"}), "positions"));
}

/// Each impossible pair of numbers, by the rule that finds it; the same with possible numbers is
/// silent.
TEST(ClaimContradictions, EachRuleFindsItsOwnAndNothingElse) {
  struct Pair {
    const char* rule;
    const char* wrong;
    const char* right;
  };
  const Pair pairs[] = {
      {"accepted", "accepted=120,drafted=119", "accepted=119,drafted=119"},
      {"offered", "drafted=61,rounds=12,k=5", "drafted=60,rounds=12,k=5"},
      {"draft_length", "accepted_per_pass=7.3,k=7", "accepted_per_pass=6.9,k=7"},
      {"acceptance", "accept=50%,accepted=60,drafted=100", "accept=60%,accepted=60,drafted=100"},
      {"length", "tau=8.3,k=7", "tau=7.3,k=7"},
      {"length", "tau=3.00,accepted=167,passes=87", "tau=2.92,accepted=167,passes=87"},
      {"length", "tau=4.00,accept=87%,k=3,full=yes", "tau=3.61,accept=87%,k=3,full=yes"},
      {"length", "tau=3.90,accept=50%,k=4", "tau=2.90,accept=50%,k=4"},
      {"range", "tau=0.90", "tau=1.00"},
      {"range", "share=120%,spec=10", "share=50%,spec=10"},
      {"range", "accept=120%", "accept=1.2"},
      {"range", "accept=120%,k=4,offered_per_pass=4.0", "accept=100%,k=4,offered_per_pass=4.0"},
      {"speedup", "base=53,spec=87.9,speedup=1.85", "base=52.5,spec=87.954,speedup=1.675"},
      {"passes_per_s", "tps=29.3,tau=3.60,passes/s=9.1", "tps=29.3,tau=3.60,passes/s=8.1"},
      {"peak", "tps=410.61,peak=113", "tps=113,peak=410.61"},
      {"rate", "tps=51.437,tokens=53,seconds=0.954", "tps=55.6,tokens=53,seconds=0.954"},
      {"rate", "tps=18.20,tokens=200,seconds=11.0826", "tps=17.96,tokens=200,seconds=11.0826"},
      {"pass_cost", "base=10,spec=30,tau=2.00", "base=10,spec=15,tau=2.00"},
      {"pass_cost", "base=10,spec=60,accept=40%,k=5", "base=10,spec=20,accept=40%,k=5"},
      {"pass_cost", "c=0.70", "c=1.10"},
      {"pass_cost", "c=1.80,tau=3.00,speedup=2.00", "c=1.50,tau=3.00,speedup=2.00"},
      {"identity", "tokens=57,accepted=36,passes=11", "tokens=48,accepted=36,passes=11"},
      {"ceiling", "tps=50,tau=1.0,bytes=13.5GB,bandwidth=273GB/s",
       "tps=20,tau=1.0,bytes=13.5GB,bandwidth=273GB/s"},
  };
  for (const Pair& one : pairs) {
    const auto wrong = judge_given({one.wrong});
    ASSERT_EQ(wrong.contradictions.size(), 1U) << one.wrong << "\n" << contradictions(wrong);
    EXPECT_EQ(wrong.contradictions[0].rule, one.rule) << one.wrong;
    EXPECT_NE(wrong.contradictions[0].one, wrong.contradictions[0].other) << one.wrong;
    EXPECT_EQ(contradictions(judge_given({one.right})), "") << one.right;
  }
}

TEST(ClaimContradictions, ATableOfRatiosIsRecomputedCellByCell) {
  // C045: the cells of K = 5 and 6 are wrong by more than 7 %.
  const std::vector<std::pair<const char*, bool>> cells = {
      {"base_tpot=7.07ms,tpot=4.37ms,speedup=1.618", false},
      {"base_tpot=7.07ms,tpot=4.71ms,speedup=1.610", true},
      {"base_tpot=7.07ms,tpot=4.94ms,speedup=1.544", true},
      {"base_tpot=7.07ms,tpot=5.2ms,speedup=1.360", false}};
  for (const auto& [text, is_wrong] : cells)
    EXPECT_EQ(contradicts(judge_given({text}), "speedup"), is_wrong) << text;
}

TEST(ClaimContradictions, AMixtureIsNotFasterThanItsFastestClass) {
  const auto claim =
      judge_given({"class=code,spec=121", "class=prose,spec=62", "class=mixed,spec=123.5"});
  EXPECT_TRUE(contradicts(claim, "mixture"));
}

TEST(ClaimReadings, OverAHundredPercentIsNoLength) {
  EXPECT_TRUE(judge_given({"accept=120%,k=4"}).rows[0].readings.empty());
  EXPECT_FALSE(judge_given({"accept=1.2,k=4"}).rows[0].readings.empty());
  const auto claim = judge_given({"accept=120%,k=4,offered_per_pass=4.0"});
  EXPECT_LE(*find(claim.rows[0], "tokens_per_pass").high, 5);
}

TEST(ClaimBase, APlainRowOfAnotherConfigurationIsNone) {
  const std::pair<const char*, const char*> parted[] = {{"quant=Q4", "quant=Q8"},
                                                        {"build=b1", "build=b2"},
                                                        {"class=code", "class=prose"},
                                                        {"depth=0", "depth=4096"},
                                                        {"np=1", "np=4"}};
  for (const auto& [of_plain, of_drafts] : parted) {
    const std::string plain = std::string("arm=plain,tps=10,") + of_plain;
    const auto other = judge_given({plain, std::string("tps=20,drafter=d,") + of_drafts});
    EXPECT_FALSE(find(other.rows[1], "speedup").low) << of_drafts;
    EXPECT_THAT(reason(other.rows[1], "speedup"), testing::HasSubstr("of another")) << of_drafts;
    for (const std::string& words : {std::string("drafter=d"), std::string(of_plain)}) {
      const auto same = judge_given({plain, "tps=20," + words});
      EXPECT_NEAR(value(same.rows[1], "speedup"), 2, 1e-9) << words;
    }
    const auto both = judge_given({plain, std::string("arm=plain,tps=5,") + of_drafts,
                                   std::string("tps=20,") + of_drafts, "tps=20"});
    EXPECT_NEAR(value(both.rows[2], "speedup"), 4, 1e-9) << of_drafts;
    EXPECT_THAT(reason(both.rows[3], "speedup"), testing::HasSubstr("2 plain rows"));
  }
}

TEST(ClaimRemarks, PassesAreComparedWithinEachDraftLimit) {
  const auto claim = judge_given({"k=2,tps=20,tau=2.00", "k=8,tps=30,tau=3.00",
                                  "k=8,name=fast,tps=60,tau=3.00", "k=8,tps=31,tau=3.00"});
  ASSERT_EQ(claim.remarks.size(), 1U);
  EXPECT_EQ(claim.remarks[0].kind, "pass_rates_differ");
  EXPECT_EQ(claim.remarks[0].row, "fast");
}

TEST(ClaimFacts, WhatDecidesComesFirstAndThenWhatMovesMost) {
  const auto claim = judge_given({"base=17.98,spec=84.64"});
  const auto& missing = claim.facts.missing;
  ASSERT_EQ(missing.size(), 17U);
  EXPECT_EQ(claim.facts.verdict, "screenshot");
  EXPECT_EQ(missing[0].fact, "F4");
  EXPECT_EQ(missing[1].fact, "F5");
  EXPECT_EQ(missing[2].fact, "F12");
  EXPECT_EQ(missing[3].fact, "F8");
  for (const auto& one : missing) {
    EXPECT_FALSE(one.question.empty()) << one.fact;
    EXPECT_FALSE(one.reason.empty()) << one.fact;
    EXPECT_FALSE(one.changes.empty()) << one.fact;
  }
}

const std::string all_facts =
    "tps=20,prefill=900,tau=2.92,accept=64%,fire_rate=0.99,draft_per_pass=3.0,k=3,model=m,quant=q4,"
    "imatrix=none,size=16GB,drafter=d,drafter_quant=q8,class=code,mix=code only,"
    "sampling=temp 0.8 top-k 40 top-p 0.95 min-p 0.05,depth=4096,kv_type=f16,memory_after=20 GB,"
    "backend=CUDA all layers,ppl=5.7,build=b9030,tool=llama-server,bytes=16GB,bandwidth=900GB/s,"
    "np=1,n_batch=2048,power=300 W no "
    "throttling,tokens=256,stop=length,prompts=20,launches=3,n_eff=18";

TEST(ClaimFacts, AllOfThemMakeABenchmarkAndEachOneLackingTellsSo) {
  const auto whole = judge_given({all_facts});
  EXPECT_EQ(whole.facts.verdict, "benchmark") << whole.facts.missing.front().reason;
  EXPECT_EQ(whole.facts.known.size(), 17U);
  const std::vector<std::pair<std::string, std::string>> lacking = {
      {"imatrix=none,", "F1"},
      {"drafter=d,", "F2"},
      {"class=code,", "F3"},
      {"fire_rate=0.99,", "F4"},
      {" min-p 0.05", "F6"},
      {"prefill=900,", "F7"},
      {"kv_type=f16,", "F8"},
      {"memory_after=20 GB,", "F9"},
      {"backend=CUDA all layers,", "F10"},
      {"ppl=5.7,", "F11"},
      {"build=b9030,", "F12"},
      {"bandwidth=900GB/s,", "F13"},
      {"np=1,", "F14"},
      {"power=300 W no throttling,", "F15"},
      {"stop=length,", "F16"},
      {"n_batch=2048,", "F14"},
      {",launches=3", "F17"},
      {",n_eff=18", "F17"}};
  for (const auto& [text, fact] : lacking) {
    std::string given = all_facts;
    given.erase(given.find(text), text.size());
    const auto claim = judge_given({given});
    ASSERT_EQ(claim.facts.missing.size(), 1U) << text;
    EXPECT_EQ(claim.facts.missing[0].fact, fact) << text;
    const bool decides = fact == "F4" || fact == "F12";
    EXPECT_EQ(claim.facts.verdict, decides ? "screenshot" : "incomplete") << text;
  }
}

// mlx-vlm's "accept" is of the output, and says nothing of how many drafts were rejected.
TEST(ClaimFacts, AShareOfTheOutputIsNoAcceptance) {
  Row row = *parse_given(all_facts, 1);
  for (Stated& one : row.stated)
    if (one.figure == Figure::acceptance) one.definition = "accepted / output tokens";
  Sheet sheet;
  sheet.rows.push_back(std::move(row));
  const auto claim = judge(std::move(sheet));
  ASSERT_EQ(claim.facts.missing.size(), 1U);
  EXPECT_EQ(claim.facts.missing[0].fact, "F4");
}

TEST(ClaimFacts, OurOwnDocumentsKeepTheirOwnVerdict) {
  const auto claim = judge_text(
      R"({"schema":"paceline.report/1","engine":{"build":"b1"},"target":{"file":"m.gguf"},
          "facts":{"known":["F4","F5","F12"],"missing":[{"fact":"F15","reason":"not read"}],
                   "not_applicable":[{"fact":"F2","reason":"no arm speculates"}]},
          "arms":[{"name":"plain","settings":{"spec_type":"none"},"workloads":[{"class":"json",
            "decode":{"tokens_per_s":{"value":576,"low":527,"high":629},
                      "tokens_per_pass":{"value":1.0,"low":1.0,"high":1.0}},
            "acceptance":{"rate":{"value":null,"reason":"no drafts"}}}]}]})");
  ASSERT_EQ(claim.rows.size(), 1U);
  EXPECT_EQ(*find(claim.rows[0], "tokens_per_s").low, 527);
  EXPECT_FALSE(find(claim.rows[0], "acceptance").value);
  ASSERT_EQ(claim.facts.not_applicable.size(), 1U);
  for (const auto& one : claim.facts.missing) {
    EXPECT_NE(one.fact, "F12");
    EXPECT_NE(one.fact, "F2");
    if (one.fact == "F15") {
      EXPECT_EQ(one.reason, "not read");
    }
  }
}

}  // namespace
}  // namespace paceline::claim
