#include "document/warnings.hpp"

#include <gtest/gtest.h>

#include "support/sample_run.hpp"

namespace paceline::document {
namespace {

using Kinds = std::vector<WarningKind>;

class WarningsOfARun : public ::testing::Test {
 protected:
  std::vector<Warning> warnings() const { return assemble(trace, summary, mix, machine).warnings; }
  Kinds kinds() const {
    Kinds found;
    for (const auto& warning : warnings()) found.push_back(warning.kind);
    return found;
  }
  std::string only_text() const {
    const auto found = warnings();
    return found.size() == 1 ? found[0].text : "not one warning";
  }

  trace::Trace trace = support::sample_trace();
  metrics::Summary summary = support::sample_summary();
  trace::Mix mix = support::sample_mix();
  machine::MachineFacts machine = support::sample_machine();
};

TEST_F(WarningsOfARun, AreNoneWhenNothingIsWrong) { EXPECT_EQ(kinds(), Kinds{}); }

TEST_F(WarningsOfARun, NameTheClassThatLoops) {
  summary.arms[1].classes[0].looping = true;
  summary.arms[1].classes[0].repeated_8gram_share = 0.82;
  EXPECT_EQ(kinds(), Kinds{WarningKind::looping});
  EXPECT_NE(only_text().find("prose on dflash-n6 (82 %)"), std::string::npos) << only_text();
}

TEST_F(WarningsOfARun, NameTheArmWhoseAcceptanceWasForced) {
  trace.header.arms[1].setup.forced =
      trace::ForcedAcceptance{.length = 3, .schedule = {}, .rates = {}};
  EXPECT_EQ(kinds(), Kinds{WarningKind::forced_acceptance});
  EXPECT_NE(only_text().find("dflash-n6"), std::string::npos) << only_text();
  const auto document = assemble(trace, summary, mix, machine);
  const auto& lossless = document.arms[1].workloads[0].lossless;
  EXPECT_FALSE(lossless.value);
  EXPECT_NE(lossless.reason.find("forced"), std::string::npos) << lossless.reason;
  EXPECT_EQ(document.drafter.value->by_arm[0].forced.value->length, 3);
}

TEST_F(WarningsOfARun, NameFilesOfRandomWeightsOnce) {
  for (auto& launch : trace.launches)
    if (launch.facts) launch.facts->target.synthetic = "llama, 4 layers";
  EXPECT_EQ(kinds(), Kinds{WarningKind::synthetic_model});
  EXPECT_NE(only_text().find("random"), std::string::npos) << only_text();
  const auto document = assemble(trace, summary, mix, machine);
  EXPECT_EQ(document.target.value->synthetic.value, "llama, 4 layers");
}

TEST_F(WarningsOfARun, CountThePromptsThatAreTooFew) {
  summary.arms[0].classes[2].prompts = summary.arms[0].classes[2].families = 7;
  EXPECT_EQ(kinds(), Kinds{WarningKind::too_few_prompts});
  summary.arms[0].classes[2].prompts = summary.arms[0].classes[2].families = 8;
  EXPECT_EQ(kinds(), Kinds{});
  summary.arms[0].classes[2].n_eff = 5.9;
  EXPECT_EQ(kinds(), Kinds{WarningKind::too_few_prompts});
}

TEST_F(WarningsOfARun, CountFamiliesAndNotPromptsOfOneTemplate) {
  summary.arms[0].classes[2].prompts = 12;
  summary.arms[0].classes[2].families = 6;
  summary.arms[0].classes[2].n_eff = 6;
  EXPECT_EQ(kinds(), Kinds{WarningKind::too_few_prompts});
  EXPECT_NE(only_text().find("12 prompts in 6 families, n_eff 6.0"), std::string::npos)
      << only_text();
}

TEST_F(WarningsOfARun, SayWhereTheMixIsOfAnotherDepth) {
  // The sample's passes are at depths 100 to 102.
  mix.classes["json"].depth = 101;
  EXPECT_EQ(kinds(), Kinds{});
  mix.classes["json"].depth = 4000;
  EXPECT_EQ(kinds(), Kinds{WarningKind::mix_depth});
  EXPECT_NE(only_text().find("json on plain (100 to 102 KV positions, the mix says 4000)"),
            std::string::npos)
      << only_text();
}

TEST_F(WarningsOfARun, NameTheArmWithUnderThreeLaunches) {
  summary.arms[3].launches_done = 2;
  EXPECT_EQ(kinds(), Kinds{WarningKind::few_launches});
  EXPECT_NE(only_text().find("mtp-n3 (2)"), std::string::npos) << only_text();
}

TEST_F(WarningsOfARun, GiveTheShareOfCpuTimeThatWasStolen) {
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) request.noise.steal_s = 0.05;
  EXPECT_EQ(kinds(), Kinds{WarningKind::high_steal});
  // 50 ms of 4 s of CPU time
  EXPECT_NE(only_text().find("1.2 %"), std::string::npos) << only_text();
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) request.noise.steal_s = 0.039;
  EXPECT_EQ(kinds(), Kinds{}) << "under one per cent";
}

TEST_F(WarningsOfARun, GiveTheShareOfTimeThatTasksWaited) {
  for (auto& launch : trace.launches)
    for (auto& request : launch.requests) request.noise.pressure_s = 0.5;
  EXPECT_EQ(kinds(), Kinds{WarningKind::high_pressure});
  EXPECT_NE(only_text().find("25 %"), std::string::npos) << only_text();
}

TEST_F(WarningsOfARun, NameArmsThatLeaveNoCoreFree) {
  trace.launches[1].facts->threads = 2;
  EXPECT_EQ(kinds(), Kinds{WarningKind::no_free_core});
  EXPECT_NE(only_text().find("dflash-n6"), std::string::npos) << only_text();
  machine.cores_online.reset();
  EXPECT_EQ(kinds(), Kinds{}) << "nobody knows how many cores there are";
}

TEST_F(WarningsOfARun, NameBuildsThatDiffer) {
  trace.launches[4].facts->version = "v0.5.1";
  EXPECT_EQ(kinds(), Kinds{WarningKind::version_mismatch});
  EXPECT_NE(only_text().find("v0.5.0"), std::string::npos);
  EXPECT_NE(only_text().find("v0.5.1"), std::string::npos);
}

TEST_F(WarningsOfARun, TellOfArmsThatSampleDifferently) {
  trace.header.arms[1].sampling.temp = 0.8;
  EXPECT_EQ(kinds(), Kinds{WarningKind::sampling_mismatch});
  trace.header.arms[1].sampling.temp = 0.7;
  trace.launches[1].facts->sampling.settings[3].value = 0;
  EXPECT_EQ(kinds(), Kinds{WarningKind::sampling_mismatch});
}

TEST_F(WarningsOfARun, CountLostLaunches) {
  trace.launches[2].outcome.kind = trace::OutcomeKind::crashed;
  EXPECT_EQ(kinds(), Kinds{WarningKind::lost_launch});
  EXPECT_NE(only_text().find("1 of 12"), std::string::npos) << only_text();
}

TEST_F(WarningsOfARun, CountFailedRequests) {
  trace.launches[2].requests[0].outcome.kind = trace::OutcomeKind::refused;
  trace.launches[3].requests[1].outcome.kind = trace::OutcomeKind::timed_out;
  EXPECT_EQ(kinds(), Kinds{WarningKind::failed_requests});
  EXPECT_EQ(only_text().substr(0, 2), "2 ");
}

TEST_F(WarningsOfARun, TellTheFirstContradictionsAndHowManyMore) {
  summary.contradictions = {"one", "two", "three"};
  EXPECT_EQ(kinds(), Kinds{WarningKind::contradiction});
  EXPECT_EQ(only_text(), "counts that cannot all be true: one; two; three");
  summary.contradictions = {"one", "two", "three", "four", "five"};
  EXPECT_EQ(only_text(), "counts that cannot all be true: one; two; three; and 2 more");
}

TEST_F(WarningsOfARun, CountOutputsThatEndedEarly) {
  trace.header.n_predict = 64;
  EXPECT_EQ(kinds(), Kinds{}) << "the stop reasons all say limit";
  trace.launches[0].requests[0].stop = trace::StopReason::eos;
  EXPECT_EQ(kinds(), Kinds{WarningKind::unequal_output});
  EXPECT_NE(only_text().find("1 of 48"), std::string::npos) << only_text();
  trace.header.n_predict = 4;
  EXPECT_EQ(kinds(), Kinds{}) << "the stop token came exactly at the cap";
}

TEST_F(WarningsOfARun, NameClassesWithFewDraftTokens) {
  summary.arms[2].classes[3].counts.offered = 99;
  EXPECT_EQ(kinds(), Kinds{WarningKind::few_draft_tokens});
  EXPECT_NE(only_text().find("json on dflash-n7 (99)"), std::string::npos) << only_text();
  summary.arms[2].classes[3].counts.offered = 100;
  EXPECT_EQ(kinds(), Kinds{});
}

TEST_F(WarningsOfARun, NamePassesThatCostLessThanPlainOnes) {
  auto& cost = summary.arms[1].classes[0].pass_cost;
  cost.low = 0.8;
  cost.value = 0.9;
  cost.high = 1.01;
  EXPECT_EQ(kinds(), Kinds{}) << "it may be 1";
  cost.high = 0.97;
  EXPECT_EQ(kinds(), Kinds{WarningKind::impossible_pass_cost});
}

TEST_F(WarningsOfARun, TellOfAnInterruption) {
  trace.interrupted = true;
  trace.launches.resize(5);
  EXPECT_EQ(kinds(), Kinds{WarningKind::interrupted});
  EXPECT_NE(only_text().find("5 of 12"), std::string::npos) << only_text();
}

TEST_F(WarningsOfARun, TellThatLaunchesAreOfSeveralSessions) {
  trace.resumptions = {{"2026-03-04T05:06:07Z", 5, {"kernel was 1 and is 2"}}};
  EXPECT_EQ(kinds(), Kinds{WarningKind::resumed});
  EXPECT_NE(only_text().find("cut off after 5 launches"), std::string::npos) << only_text();
  EXPECT_NE(only_text().find("had changed: kernel was 1 and is 2"), std::string::npos);
}

TEST_F(WarningsOfARun, AlwaysSayWhatToDoNext) {
  trace.interrupted = true;
  trace.launches[2].outcome.kind = trace::OutcomeKind::crashed;
  summary.contradictions = {"one"};
  summary.arms[0].classes[0].prompts = summary.arms[0].classes[0].families = 1;
  for (const auto& warning : warnings()) EXPECT_FALSE(warning.next_step.empty()) << warning.text;
  EXPECT_EQ(warnings().size(), 4u);
}

TEST_F(WarningsOfARun, NameArmsWhoseContextIsLongerThanTheTrainedOneWithItsRopeScaling) {
  for (auto& launch : trace.launches) launch.facts->target.context_train = 1024;
  EXPECT_EQ(kinds(), Kinds{}) << "it is as long";
  for (auto& launch : trace.launches) launch.facts->target.context_train = 1023;
  EXPECT_EQ(kinds(), Kinds{WarningKind::context_past_training});
  EXPECT_NE(only_text().find("longer than the 1023 tokens"), std::string::npos) << only_text();
  EXPECT_NE(only_text().find("rope scaling: none): plain (1024 tokens); dflash-n6 (1024"),
            std::string::npos)
      << only_text();
  for (auto& launch : trace.launches)
    launch.facts->target.rope_scaling = model::RopeScaling{"yarn", 4.0, 256};
  EXPECT_NE(only_text().find("yarn, factor 4, from 256 tokens"), std::string::npos) << only_text();
}

}  // namespace
}  // namespace paceline::document
