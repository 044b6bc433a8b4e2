#include "document/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

using Names = std::vector<std::string>;

Names names(const std::vector<MissingFact>& facts) {
  Names result;
  for (const auto& fact : facts) result.push_back(fact.fact);
  return result;
}

std::string reason_of(const Facts& facts, const std::string& fact) {
  for (const auto& missing : facts.missing)
    if (missing.fact == fact) return missing.reason;
  return "";
}

bool is_known(const Facts& facts, const std::string& fact) {
  return std::find(facts.known.begin(), facts.known.end(), fact) != facts.known.end();
}

Facts facts_of(const trace::Trace& trace) {
  return assemble(trace, support::sample_summary(), support::sample_mix(),
                  support::sample_machine())
      .facts;
}

TEST(ToFacts, AccountsForEveryFactOnce) {
  const Facts facts = support::sample_document().facts;
  EXPECT_EQ(facts.known, (Names{"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F10", "F12", "F14",
                                "F16", "F17"}));
  EXPECT_EQ(names(facts.missing), (Names{"F9", "F11", "F13", "F15"}));
  EXPECT_TRUE(facts.not_applicable.empty());
  EXPECT_EQ(facts.verdict, "incomplete");
}

TEST(ToFacts, DoNotAskAPlainRunForADrafter) {
  auto trace = support::sample_trace();
  trace.header.arms.resize(1);
  auto summary = support::sample_summary();
  summary.arms.resize(1);
  const Facts facts = assemble(trace, summary, support::sample_mix(), {}).facts;
  EXPECT_EQ(names(facts.not_applicable), (Names{"F2", "F4"}));
  EXPECT_EQ(facts.verdict, "incomplete");
}

TEST(ToFacts, KnowTheMemoryOnceTheContextWasFull) {
  auto trace = support::sample_trace();
  auto& launch = trace.launches[0];
  trace::FilledDepth filled;
  filled.asked_depth = launch.facts->n_ctx;
  filled.fill = trace::Fill{launch.facts->n_ctx, launch.facts->n_ctx, 0, 1, 0, {}};
  filled.reading = trace::MemoryReading{trace::MemoryMoment::after_fill, 900, "", {}, {}};
  launch.fills = {filled};
  launch.memory = {*filled.reading};
  EXPECT_TRUE(is_known(facts_of(trace), "F9"));
}

TEST(ToFacts, KnowTheCeilingAlsoWhereACacheTakesItsPlace) {
  auto summary = support::sample_summary();
  const auto f13 = [&] {
    return reason_of(assemble(support::sample_trace(), summary, support::sample_mix(), {}).facts,
                     "F13");
  };
  for (auto& arm : summary.arms)
    for (auto& of_class : arm.classes)
      of_class.ceiling.share = metrics::unknown("cache: a pass reads 9 MB");
  EXPECT_EQ(f13(), "");
  summary.arms[1].classes[0].ceiling.share = metrics::unknown("rules of this model are not known");
  EXPECT_EQ(f13(), "rules of this model are not known");
}

TEST(ToFacts, AShareOfAClassIsThatOfEveryDepth) {
  auto summary = support::sample_summary();
  auto deep = summary.arms[0].classes[0];
  deep.workload_class = trace::class_at(deep.workload_class, 4096);
  deep.filled_tokens = 4096;
  summary.arms[0].classes.push_back(deep);
  const auto facts = assemble(support::sample_trace(), summary, support::sample_mix(), {}).facts;
  EXPECT_TRUE(is_known(facts, "F3"));
}

TEST(ToFacts, KnowAnNgramDrafterByItsSizes) {
  auto trace = support::sample_trace();
  for (auto& arm : trace.header.arms)
    if (arm.setup.spec_type == trace::SpecType::draft_mtp)
      arm.setup.spec_type = trace::SpecType::ngram_simple;
  EXPECT_NE(reason_of(facts_of(trace), "F2").find("mtp-n3"), std::string::npos);
  for (auto& launch : trace.launches)
    if (launch.arm == "mtp-n3")
      launch.facts->ngram = {.size_n = 4, .size_m = 7, .min_hits = 1, .n_min = {}};
  EXPECT_TRUE(is_known(facts_of(trace), "F2"));
}

TEST(ToFacts, KnowThePowerWithItsCapAndClocksAndThrottlingOfTheRequests) {
  auto trace = support::sample_trace();
  EXPECT_EQ(reason_of(facts_of(trace), "F15"),
            "this system does not show the power cap, clocks while requests ran, throttling");
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) {
      request.noise.clock_mhz = 3000;
      request.noise.throttled = 0;
    }
  EXPECT_EQ(reason_of(facts_of(trace), "F15"), "this system does not show the power cap");
  auto machine = support::sample_machine();
  machine.power_cap_w = 65;
  EXPECT_TRUE(is_known(
      assemble(trace, support::sample_summary(), support::sample_mix(), machine).facts, "F15"));
}

TEST(ToFacts, CallARunWithoutAcceptanceAScreenshot) {
  auto summary = support::sample_summary();
  summary.arms[2].classes[1].fire_rate = metrics::unknown("lost");
  const Facts facts = assemble(support::sample_trace(), summary, support::sample_mix(), {}).facts;
  EXPECT_NE(reason_of(facts, "F4"), "");
  EXPECT_EQ(facts.verdict, "screenshot");
}

TEST(ToFacts, KnowThatADrafterNeverDrafted) {
  auto summary = support::sample_summary();
  auto& silent = summary.arms[2].classes[1];
  silent.counts.attempts = 500;
  silent.counts.offered = 0;
  silent.acceptance = metrics::unknown("nothing was offered");
  silent.draft_per_pass = metrics::unknown("no pass had a draft");
  const auto facts_with = [&] {
    return assemble(support::sample_trace(), summary, support::sample_mix(), {}).facts;
  };
  EXPECT_TRUE(is_known(facts_with(), "F4"));
  silent.counts.attempts = 0;
  EXPECT_FALSE(is_known(facts_with(), "F4")) << "it may never have been run";
}

TEST(ToFacts, CallARunWithoutTokensPerPassAScreenshot) {
  auto summary = support::sample_summary();
  summary.arms[0].classes[0].tokens_per_pass = metrics::unknown("lost");
  const Facts facts = assemble(support::sample_trace(), summary, support::sample_mix(), {}).facts;
  EXPECT_NE(reason_of(facts, "F5"), "");
  EXPECT_EQ(facts.verdict, "screenshot");
}

TEST(ToFacts, CallARunOfTwoBuildsAScreenshot) {
  auto trace = support::sample_trace();
  trace.launches[7].facts->build = "b2";
  EXPECT_NE(reason_of(facts_of(trace), "F12").find("different builds"), std::string::npos);
  EXPECT_EQ(facts_of(trace).verdict, "screenshot");
}

TEST(ToFacts, KnowABlockDrafterInItsOwnFile) {
  auto trace = support::sample_trace();
  trace.header.arms.pop_back();
  auto summary = support::sample_summary();
  summary.arms.pop_back();
  EXPECT_TRUE(is_known(assemble(trace, summary, support::sample_mix(), {}).facts, "F2"));
}

TEST(ToFacts, KnowTheDrafterInsideTheTargetsFileByTheTypesOfItsBlocks) {
  auto trace = support::sample_trace();
  EXPECT_TRUE(is_known(facts_of(trace), "F2"));
  for (auto& launch : trace.launches) launch.facts->target.drafter->recipe.clear();
  EXPECT_NE(reason_of(facts_of(trace), "F2").find("mtp-n3"), std::string::npos);
  for (auto& launch : trace.launches) launch.facts->target.drafter.reset();
  EXPECT_NE(reason_of(facts_of(trace), "F2").find("mtp-n3"), std::string::npos);
}

TEST(ToFacts, KnowTheRecipeOnlyWithTheSizeOfEveryType) {
  auto trace = support::sample_trace();
  EXPECT_TRUE(is_known(facts_of(trace), "F1")) << "no trace of an imatrix is an answer";
  for (auto& launch : trace.launches) launch.facts->target.recipe[0].bytes.reset();
  EXPECT_NE(reason_of(facts_of(trace), "F1").find("ffn_up"), std::string::npos);
  for (auto& launch : trace.launches) launch.facts->target.recipe.clear();
  EXPECT_NE(reason_of(facts_of(trace), "F1").find("heavy.gguf"), std::string::npos);
}

TEST(ToFacts, MissTheRecipeOfASplitModelOfWhichAFileIsMissing) {
  auto trace = support::sample_trace();
  for (auto& launch : trace.launches)
    launch.facts->target.split = model::SplitFacts{3, 1, 2, {"heavy-00003-of-00003.gguf"}};
  EXPECT_NE(reason_of(facts_of(trace), "F1").find("split"), std::string::npos);
}

TEST(ToFacts, MissWhereDraftTokensArePickedUntilItWasSeen) {
  auto trace = support::sample_trace();
  trace.launches[1].facts->draft_on_device.reset();
  EXPECT_NE(reason_of(facts_of(trace), "F10").find("dflash-n6"), std::string::npos);
}

TEST(ToFacts, MissTheOffloadWhereThereIsADeviceForIt) {
  auto trace = support::sample_trace();
  trace.launches[0].facts->devices = {"CPU (AVX2)", "CUDA0 (NVIDIA H200)"};
  EXPECT_NE(reason_of(facts_of(trace), "F10").find("offloaded"), std::string::npos);
}

TEST(ToFacts, MissTheTaskDistributionOfAClassOutsideTheMix) {
  auto mix = support::sample_mix();
  mix.classes.erase("json");
  const Facts facts = assemble(support::sample_trace(), support::sample_summary(), mix, {}).facts;
  EXPECT_NE(reason_of(facts, "F3"), "");
}

TEST(ToFacts, MissNearlyAllWhenNothingOpened) {
  auto trace = support::sample_trace();
  trace.launches.clear();
  const Facts facts = assemble(trace, {}, {}, {}).facts;
  EXPECT_EQ(facts.known, Names{"F16"}) << "the output cap was fixed before";
  EXPECT_EQ(facts.verdict, "screenshot");
}

}  // namespace
}  // namespace paceline::document
