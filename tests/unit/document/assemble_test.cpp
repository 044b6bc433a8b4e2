#include "document/assemble.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

TEST(Assemble, ShowsTheFactsOfTheFirstLaunchThatOpened) {
  auto trace = support::sample_trace();
  trace.launches[0].facts.reset();
  trace.launches[1].facts->version = "second";
  trace.launches[2].facts->version = "third";
  const Document document = assemble(trace, support::sample_summary(), support::sample_mix(), {});
  ASSERT_TRUE(document.engine.value);
  EXPECT_EQ(document.engine.value->version.value, "second");
}

TEST(Assemble, KeepsFoldersOutOfFileNames) {
  const Document document = support::sample_document();
  EXPECT_EQ(document.target.value->file, "heavy.gguf");
  EXPECT_EQ(document.arms[1].settings.draft_path, "dflash-f16.gguf");
  EXPECT_EQ(document.drafter.value->by_arm[0].file.value->file, "dflash-f16.gguf");
}

TEST(Assemble, ListsADrafterForEachSpeculatingArm) {
  const Document document = support::sample_document();
  const auto& drafters = document.drafter.value->by_arm;
  ASSERT_EQ(drafters.size(), 3u);
  EXPECT_EQ(drafters[0].arm, "dflash-n6");
  EXPECT_EQ(drafters[0].block.value, 8);
  EXPECT_EQ(drafters[2].arm, "mtp-n3");
  EXPECT_EQ(drafters[2].n_max.value, 3);
  EXPECT_FALSE(drafters[2].file.value) << "the MTP block is inside the target's file";
  EXPECT_FALSE(drafters[2].file.reason.empty());
}

TEST(Assemble, GivesTheDraftLengthInForceBesideTheOneAskedFor) {
  auto trace = support::sample_trace();
  trace.header.arms[1].setup.draft_n_max = 12;
  trace.launches[1].facts->draft_n_max = 7;
  const Document document = assemble(trace, support::sample_summary(), support::sample_mix(), {});
  EXPECT_EQ(document.arms[1].settings.draft_n_max_requested, 12);
  EXPECT_EQ(document.arms[1].settings.draft_n_max.value, 7);
  EXPECT_FALSE(document.arms[0].settings.draft_n_max.value);
}

TEST(Assemble, CountsLaunchesThatWerePlannedDoneAndLost) {
  auto trace = support::sample_trace();
  trace.launches[5].outcome.kind = trace::OutcomeKind::crashed;
  trace.launches.pop_back();
  const Document document = assemble(trace, support::sample_summary(), support::sample_mix(), {});
  EXPECT_EQ(document.launches.planned, 12);
  EXPECT_EQ(document.launches.done, 10);
  EXPECT_EQ(document.launches.lost, 1);
}

TEST(Assemble, GivesEveryFailureWithWhereItHappened) {
  auto trace = support::sample_trace();
  trace.launches[4].outcome = {
      trace::OutcomeKind::crashed, "the engine process died", 11, std::nullopt, {"last line"}};
  trace.launches[6].requests[1].outcome = {
      trace::OutcomeKind::cancelled, "stopped by the user", std::nullopt, std::nullopt, {}};
  const Document document = assemble(trace, support::sample_summary(), support::sample_mix(), {});
  ASSERT_EQ(document.outcomes.size(), 2u);
  EXPECT_EQ(document.outcomes[0].arm, "plain");
  EXPECT_EQ(document.outcomes[0].round, 1);
  EXPECT_FALSE(document.outcomes[0].prompt);
  EXPECT_EQ(document.outcomes[0].kind, "crashed");
  EXPECT_EQ(document.outcomes[0].signal, 11);
  EXPECT_EQ(document.outcomes[0].log_tail, std::vector<std::string>{"last line"});
  EXPECT_EQ(document.outcomes[1].arm, "dflash-n7");
  EXPECT_EQ(document.outcomes[1].prompt, "c-1");
  EXPECT_EQ(document.outcomes[1].kind, "cancelled");
}

TEST(Assemble, LeavesWhatTheMachineDoesNotSayUnknownWithAReason) {
  const Document document =
      assemble(support::sample_trace(), support::sample_summary(), support::sample_mix(), {});
  EXPECT_FALSE(document.machine.processor.value);
  EXPECT_FALSE(document.machine.processor.reason.empty());
  EXPECT_FALSE(document.machine.load.value);
}

TEST(Assemble, SaysHowPromptsAreSentAndWhatElseEndsAnOutput) {
  auto trace = support::sample_trace();
  trace.header.prompt_form = trace::PromptForm::chat;
  trace.header.workload_notes = {"read as bfcl"};
  const auto launches = [&trace] {
    return assemble(trace, support::sample_summary(), support::sample_mix(), {}).launches;
  };
  EXPECT_EQ(launches().prompt_form, "chat");
  EXPECT_EQ(launches().workload_notes, std::vector<std::string>{"read as bfcl"});
  EXPECT_EQ(launches().stop_rule,
            "an end-of-generation token ends a request before the cap and is counted as output");
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) request.eos_counted = false;
  EXPECT_EQ(launches().stop_rule,
            "an end-of-generation token ends a request before the cap and is not counted");
}

TEST(Assemble, SaysOfAMixWhatItDoesNotSay) {
  auto mix = support::sample_mix();
  mix.classes["json"].depth = 120;
  mix.classes["json"].tokens_per_request.reset();
  const auto document = assemble(support::sample_trace(), support::sample_summary(), mix, {});
  EXPECT_EQ(document.mix.depth.at("json").value, 120);
  EXPECT_EQ(document.mix.depth.at("c").reason, "the mix does not say");
  EXPECT_EQ(document.mix.tokens_per_request.at("c").value, 64);
  EXPECT_EQ(document.mix.tokens_per_request.at("json").reason, "the mix does not say");
}

TEST(Assemble, GivesTheMixWithEachArmsThroughput) {
  const Document document = support::sample_document();
  EXPECT_EQ(document.mix.shares.at("json"), 0.25);
  EXPECT_EQ(document.mix.pat_decode.at("mtp-n3").value, 81);
  EXPECT_EQ(document.mix.pat_end_to_end.at("mtp-n3").value, 70);
}

TEST(Assemble, GivesTheNarrowestWidthNoStep) {
  const Document document = support::sample_document();
  const auto& widths = document.width_curves.at(0).widths;
  EXPECT_FALSE(widths[0].step.value);
  EXPECT_FALSE(widths[0].step.reason.empty());
  EXPECT_NEAR(*widths[7].step.value, 50.2 / 27.4, 1e-12);
}

TEST(Assemble, TellsKvTypesByArmAndWhatEachIsHeldAgainst) {
  auto trace = support::sample_trace();
  for (auto& launch : trace.launches) {
    if (launch.arm != "mtp-n3") continue;
    launch.facts->cache_type_k = "q8_0";
    launch.facts->draft_cache_type_k = "q4_0";
  }
  trace.header.arms[2].plain = "plain@k:f32";
  const auto arms = assemble(trace, support::sample_summary(), support::sample_mix(), {}).arms;
  EXPECT_EQ(arms.at(0).settings.cache_type_k.value, "f16");
  EXPECT_EQ(arms.at(0).settings.draft_cache_type_k.reason, "no drafter");
  EXPECT_EQ(arms.at(3).settings.cache_type_k.value, "q8_0");
  EXPECT_EQ(arms.at(3).settings.draft_cache_type_k.value, "q4_0");
  EXPECT_EQ(arms.at(3).settings.draft_cache_type_v.reason, "the engine does not say");
  EXPECT_EQ(arms.at(0).plain.reason, "it is plain decoding itself");
  EXPECT_EQ(arms.at(1).plain.value, "plain");
  EXPECT_EQ(arms.at(2).plain.reason, "no plain arm");
}

}  // namespace
}  // namespace paceline::document
