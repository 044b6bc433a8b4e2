#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

using std::filesystem::file_size;
using support::expect_same_text;
using support::first_difference;
using support::greedy;
using support::JobReport;
using support::lab_model;
using support::lab_setup;
using support::near_tie;
using support::WorkerProcess;
using trace::OutcomeKind;
using trace::SpecType;

/// Without a drafter, and with each of those that read the target.
constexpr std::array plain_and_trained = {SpecType::none, SpecType::draft_dflash,
                                          SpecType::draft_dspark, SpecType::draft_mtp,
                                          SpecType::draft_eagle3};

util::Json golden() {
  const auto text = util::read_file(lab_model("dflash-golden.json"));
  return util::parse_json(text.value(), "dflash-golden.json").value();
}

std::vector<std::string> held_out_prompts() {
  const auto text =
      util::read_file(PACELINE_SOURCE_DIR "/workloads/held-out-prompts.jsonl").value();
  std::vector<std::string> prompts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    prompts.push_back(util::parse_json(line, "a prompt").value()["text"].get<std::string>());
  return prompts;
}

TEST(Worker, SaysHelloWithItsProtocolBeforeAnythingIsLoaded) {
  WorkerProcess worker;
  EXPECT_EQ(worker.hello().protocol, protocol::protocol_version);
  EXPECT_EQ(worker.hello().tool_version, PACELINE_VERSION);
}

TEST(Worker, PlainGreedyTokensAreThoseOfTheTrainingGraph) {
  WorkerProcess worker;
  ASSERT_EQ(worker.open(lab_setup(SpecType::none)).outcome.kind, OutcomeKind::done);
  const util::Json expectations = golden();
  int equal = 0;
  const int texts = static_cast<int>(expectations["texts"].size());
  for (const auto& text : expectations["texts"]) {
    const auto expected = text["greedy_ids"].get<std::vector<int>>();
    const auto report = worker.run(
        greedy(text["prompt_ids"].get<std::vector<int>>(), static_cast<int>(expected.size())));
    const std::size_t parted = first_difference(report.tokens(), expected);
    if (parted == expected.size()) {
      ++equal;
      continue;
    }
    // Both sides must agree that it was a tie: the graph in F32 and the engine in F16.
    EXPECT_LT(text["greedy_min_top2_gap"].get<double>(), near_tie) << text["id"];
    EXPECT_LT(report.gaps()[parted], near_tie) << text["id"];
  }
  std::cout << "greedy texts equal: " << equal << " of " << texts << "\n";
  EXPECT_GE(equal, texts * 7 / 8);
}

TEST(Worker, GreedyTextIsTheSameWithEveryDrafter) {
  const auto prompts = held_out_prompts();
  std::vector<JobReport> plain;
  for (const SpecType type : plain_and_trained) {
    WorkerProcess worker;
    const auto opened = worker.open(lab_setup(type));
    ASSERT_EQ(opened.outcome.kind, OutcomeKind::done) << opened.outcome.reason;
    int accepted = 0;
    for (std::size_t i = 0; i < prompts.size(); i += 5) {
      const JobReport report = worker.run(greedy(prompts[i], 48));
      ASSERT_EQ(report.finished.outcome.kind, OutcomeKind::done);
      EXPECT_EQ(report.residual(), 0);
      for (const auto& emission : report.emissions) accepted += emission.accepted;
      if (type == SpecType::none)
        plain.push_back(report);
      else
        expect_same_text(plain[i / 5], report.tokens(), "prompt " + std::to_string(i));
    }
    if (type == SpecType::none)
      EXPECT_EQ(accepted, 0);
    else
      EXPECT_GT(accepted, 100);
  }
}

TEST(Worker, IdentityHoldsAndPassesAgreeWithEmissionsWhenSampling) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.open(lab_setup(SpecType::draft_dflash)).facts.has_value());
  auto job = greedy(held_out_prompts().back(), 100);
  job.sampling.temp = 0.7;
  job.seed = 7;
  const JobReport report = worker.run(job);
  ASSERT_EQ(report.finished.stop, trace::StopReason::limit);
  EXPECT_EQ(report.tokens().size(), 100u);
  EXPECT_EQ(report.residual(), 0);
  ASSERT_EQ(report.emissions.size(), report.passes.size() + 1);
  int depth = report.prefill->prompt_tokens;
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    const trace::Pass& pass = report.passes[i];
    EXPECT_EQ(pass.index, static_cast<int>(i));
    EXPECT_EQ(pass.depth, depth);
    EXPECT_EQ(pass.width, pass.offered + 1);
    EXPECT_EQ(pass.accepted, report.emissions[i + 1].accepted);
    EXPECT_EQ(pass.tested, std::min(pass.offered, pass.accepted + 1));
    EXPECT_EQ(pass.draft.size(), static_cast<std::size_t>(pass.offered));
    EXPECT_LE(pass.began_ns, report.emissions[i + 1].at_ns);
    EXPECT_LE(report.emissions[i + 1].at_ns, pass.ended_ns);
    depth += static_cast<int>(report.emissions[i + 1].tokens.size());
  }
  EXPECT_EQ(report.emissions.front().at_ns, report.prefill->ended_ns);
}

TEST(Worker, DraftsNothingWhenTheOutputCapLeavesNoRoom) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.open(lab_setup(SpecType::draft_dflash)).facts.has_value());
  const JobReport report = worker.run(greedy(held_out_prompts().front(), 2));
  ASSERT_EQ(report.passes.size(), 1u);
  EXPECT_EQ(report.passes.front().kind, trace::PassKind::plain);
  EXPECT_EQ(report.passes.front().attempts, 0);
  EXPECT_FALSE(report.passes.front().generated.has_value());
  EXPECT_EQ(report.passes.front().drafter, "");
}

void expect_repeats(WorkerProcess& worker, const protocol::Generate& job,
                    const protocol::Generate& between) {
  const JobReport first = worker.run(job);
  worker.run(between);
  const JobReport again = worker.run(job);
  EXPECT_EQ(first.tokens(), again.tokens());
  EXPECT_EQ(first.finished.text, again.finished.text);
  ASSERT_EQ(first.passes.size(), again.passes.size());
  for (std::size_t i = 0; i < first.passes.size(); ++i)
    EXPECT_EQ(first.passes[i].draft, again.passes[i].draft) << "pass " << i;
}

TEST(Worker, ForgetsTheLastRequestBeforeTheNext) {
  const auto prompts = held_out_prompts();
  for (const SpecType type : plain_and_trained) {
    WorkerProcess worker;
    ASSERT_TRUE(worker.open(lab_setup(type)).facts.has_value());
    auto job = greedy(prompts[9], 40);
    job.sampling.temp = 0.7;
    job.seed = 3;
    expect_repeats(worker, job, greedy(prompts[20], 40));
    // After one token the hidden row that a drafter carries over decides about the draft.
    for (int token = 300; token < 320; ++token)
      expect_repeats(worker, greedy(std::vector<int>{token}, 6), greedy(prompts[20], 4));
  }
}

TEST(Worker, AnotherSeedSamplesAnotherText) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.open(lab_setup(SpecType::none)).facts.has_value());
  auto job = greedy(held_out_prompts()[9], 40);
  job.sampling.temp = 0.7;
  job.seed = 3;
  const auto first = worker.run(job).tokens();
  job.seed = 4;
  EXPECT_NE(first, worker.run(job).tokens());
}

TEST(Worker, PhasesComeFromSyncedRequestsOnlyAndAddUpToLessThanThePass) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.open(lab_setup(SpecType::draft_mtp)).facts.has_value());
  auto job = greedy(held_out_prompts()[3], 20);
  for (const auto& pass : worker.run(job).passes) EXPECT_FALSE(pass.phases.has_value());
  job.synced = true;
  for (const auto& pass : worker.run(job).passes) {
    ASSERT_TRUE(pass.phases.has_value());
    const auto& p = *pass.phases;
    const auto sum = p.draft_ns + p.checkpoint_ns + p.verify_ns + p.process_ns + p.sample_ns +
                     p.accept_ns + p.rollback_ns;
    EXPECT_GT(p.verify_ns, 0);
    EXPECT_LE(sum, pass.ended_ns - pass.began_ns);
  }
}

TEST(Worker, FactsSayWhatReallyRuns) {
  WorkerProcess worker;
  trace::Sampling sampling;
  sampling.temp = 0.7;
  const auto opened = worker.open(lab_setup(SpecType::draft_dflash, 0), sampling);
  ASSERT_TRUE(opened.facts.has_value()) << opened.outcome.reason;
  const auto& facts = *opened.facts;
  EXPECT_EQ(facts.draft_block, 8);
  EXPECT_EQ(facts.draft_n_max, 7) << "a block of 8 drafts 7 tokens";
  EXPECT_EQ(facts.rollback, "snapshots");
  EXPECT_EQ(facts.target.architecture, "qwen35");
  EXPECT_EQ(facts.target.file_bytes, file_size(lab_model("target-mtp-f16.gguf")));
  EXPECT_EQ(facts.drafter->file_bytes, file_size(lab_model("dflash-f16.gguf")));
  EXPECT_EQ(facts.target.vocabulary, 2048);
  EXPECT_EQ(facts.target.layers, 7) << "the prediction block included";
  EXPECT_EQ(trace::in_force(facts.sampling, "temp"), 0.7);
  EXPECT_EQ(trace::in_force(facts.sampling, "top_k"), 40);
  EXPECT_EQ(trace::in_force(facts.sampling, "top_p"), 0.95);
  EXPECT_EQ(trace::in_force(facts.sampling, "min_p"), 0.05);
  EXPECT_EQ(facts.threads, 1);
  EXPECT_EQ(facts.n_ubatch, 512);
  EXPECT_GT(facts.memory.resident_bytes, facts.memory.model_bytes);
  EXPECT_TRUE(facts.draft_on_device.has_value());
}

TEST(Worker, ProbesEveryWidthAtTheSameDepth) {
  for (const SpecType type : plain_and_trained) {
    WorkerProcess worker;
    ASSERT_TRUE(worker.open(lab_setup(type)).facts.has_value());
    const JobReport report = worker.run(protocol::Probe{{1, 4, 8, 16}, 130, 3});
    ASSERT_EQ(report.finished.outcome.kind, OutcomeKind::done) << report.finished.outcome.reason;
    ASSERT_EQ(report.widths.size(), 4u);
    for (const auto& width : report.widths) {
      EXPECT_EQ(width.depth, 130);
      EXPECT_EQ(width.verify_ns.size(), 3u);
      EXPECT_EQ(width.process_ns.size(), type == SpecType::none ? 0u : 3u);
      // A block's own longest, and llama-server's default for the others.
      const bool blocks = type == SpecType::draft_dflash || type == SpecType::draft_dspark;
      const int longest = blocks ? 7 : type == SpecType::none ? 0 : 3;
      EXPECT_EQ(width.draft_ns.size(), longest > 0 && width.width == longest + 1 ? 3u : 0u);
    }
  }
}

TEST(Worker, RefusesProbesOutOfRange) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.open(lab_setup(SpecType::none)).facts.has_value());
  for (const auto& probe :
       {protocol::Probe{{}, 10, 1}, protocol::Probe{{0}, 10, 1}, protocol::Probe{{17}, 10, 1},
        protocol::Probe{{1}, 0, 1}, protocol::Probe{{1}, 1022, 1}, protocol::Probe{{4}, 1019, 1},
        protocol::Probe{{1}, 10, 0}}) {
    const auto outcome = worker.run(probe).finished.outcome;
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    EXPECT_NE(outcome.reason, "");
  }
}

struct Refusal {
  const char* name;
  void (*spoil)(trace::Setup&);
  const char* says;
};

class WorkerRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(WorkerRefuses, WithASentenceAndStaysUsable) {
  WorkerProcess worker;
  trace::Setup setup = lab_setup(SpecType::draft_dflash);
  GetParam().spoil(setup);
  const auto opened = worker.open(setup);
  EXPECT_EQ(opened.outcome.kind, OutcomeKind::refused);
  EXPECT_FALSE(opened.facts.has_value());
  EXPECT_NE(opened.outcome.reason.find(GetParam().says), std::string::npos)
      << opened.outcome.reason;
  EXPECT_EQ(worker.open(lab_setup(SpecType::none)).outcome.kind, OutcomeKind::done);
}

INSTANTIATE_TEST_SUITE_P(
    Worker, WorkerRefuses,
    testing::Values(
        Refusal{"MissingModel", [](trace::Setup& s) { s.model_path = "/nowhere/m.gguf"; },
                "'/nowhere/m.gguf' cannot be opened"},
        Refusal{"FolderForModel", [](trace::Setup& s) { s.model_path = "/"; }, "is not a file"},
        Refusal{"TextForModel",
                [](trace::Setup& s) { s.model_path = lab_model("dflash-golden.json"); },
                "is not a GGUF file"},
        Refusal{"MissingDrafter", [](trace::Setup& s) { s.draft_path = "/nowhere/d.gguf"; },
                "'/nowhere/d.gguf' cannot be opened"},
        Refusal{"NoDrafter", [](trace::Setup& s) { s.draft_path.reset(); }, "-md"},
        Refusal{
            "DrafterOfAnotherKind",
            [](trace::Setup& s) { s.draft_path = lab_model("small-f16.gguf"); },
            "is of architecture 'qwen3', and draft-dflash runs drafters of architecture 'dflash'"},
        Refusal{"DFlashAsDSpark", [](trace::Setup& s) { s.spec_type = SpecType::draft_dspark; },
                "has no Markov head"},
        Refusal{"DrafterOfAnotherTarget",
                [](trace::Setup& s) { s.model_path = lab_model("small-f16.gguf"); },
                "its embedding length is 256, the target's is 128"},
        Refusal{"NoMtpBlock",
                [](trace::Setup& s) {
                  s.model_path = lab_model("small-f16.gguf");
                  s.draft_path.reset();
                  s.spec_type = SpecType::draft_mtp;
                },
                "has no MTP block"},
        Refusal{"DrafterWithoutType", [](trace::Setup& s) { s.spec_type = SpecType::none; },
                "--spec-type"},
        Refusal{"DrafterAsModel",
                [](trace::Setup& s) {
                  s.model_path = *s.draft_path;
                  s.draft_path.reset();
                  s.spec_type = SpecType::none;
                },
                "dflash"},
        Refusal{"NoContext", [](trace::Setup& s) { s.n_ctx = 0; }, "-c takes"},
        Refusal{"NoThreads", [](trace::Setup& s) { s.threads = 0; }, "-t takes"},
        Refusal{"DraftLongerThanTheBlock",
                [](trace::Setup& s) { s = lab_setup(SpecType::draft_dflash, 8); }, "at most 7"},
        Refusal{"NegativeDraft", [](trace::Setup& s) { s.draft_n_max = -1; },
                "--spec-draft-n-max takes"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Worker, RefusesRequestsThatCannotWorkAndServesTheNext) {
  WorkerProcess worker;
  EXPECT_NE(worker.run(greedy("text", 4)).finished.outcome.reason.find("No model is open"),
            std::string::npos);
  ASSERT_TRUE(worker.open(lab_setup(SpecType::none)).facts.has_value());
  const auto reason = [&](protocol::Generate job) {
    const auto outcome = worker.run(job).finished.outcome;
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    return outcome.reason;
  };
  EXPECT_NE(reason(greedy("", 4)).find("prompt is empty"), std::string::npos);
  EXPECT_NE(reason(greedy(std::vector<int>{5, 2048}, 4)).find("token 2048"), std::string::npos);
  EXPECT_NE(reason(greedy(std::vector<int>{-1}, 4)).find("token -1"), std::string::npos);
  EXPECT_EQ(reason(greedy(std::vector<int>(1000, 5), 24)),
            "prompt of 1000 tokens + 24 output tokens need 1025 tokens of context and -c is 1024: "
            "raise -c or shorten.");
  EXPECT_EQ(worker.run(greedy(std::vector<int>(1000, 5), 23)).finished.outcome.kind,
            OutcomeKind::done);
}

TEST(Worker, HonoursACancelWhileARequestRuns) {
  WorkerProcess worker;
  ASSERT_TRUE(worker.open(lab_setup(SpecType::none)).facts.has_value());
  // The worker reads both frames only once it is busy with the first.
  worker.send(protocol::Submit{900, greedy(held_out_prompts()[0], 800)});
  worker.send(protocol::Cancel{900});
  std::optional<trace::Finished> finished;
  while (!finished) {
    const auto report = worker.receive();
    ASSERT_TRUE(report.has_value());
    const auto& event = std::get<protocol::Happened>(*report).event;
    if (const auto* last = std::get_if<trace::Finished>(&event)) finished = *last;
  }
  EXPECT_EQ(finished->outcome.kind, OutcomeKind::cancelled);
  EXPECT_EQ(worker.run(greedy("and", 4)).finished.outcome.kind, OutcomeKind::done);
}

TEST(Worker, EndsWithZeroWhenItsInputEnds) {
  WorkerProcess idle;
  EXPECT_EQ(idle.end(), 0);
  WorkerProcess loaded;
  ASSERT_TRUE(loaded.open(lab_setup(SpecType::draft_dflash)).facts.has_value());
  EXPECT_EQ(loaded.end(), 0);
}

TEST(Worker, EndsWithASentenceOnBytesThatAreNoFrames) {
  for (const std::string& garbage :
       {std::string("\xff\xff\xff\xff nonsense"), protocol::frame("not JSON"),
        protocol::frame(R"({"kind":"dance","value":{}})"),
        protocol::frame(R"({"kind":"open","value":{"setup":3,"sampling":{}}})")}) {
    WorkerProcess worker;
    worker.send_bytes(garbage);
    EXPECT_EQ(worker.end(), 1);
    EXPECT_NE(worker.errors().find("the commands cannot be understood"), std::string::npos);
  }
}

TEST(Worker, AModelThatIsCutShortIsRefusedOrEndsTheWorkerButNeverAnswersDone) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() / "cut.gguf";
  const std::string whole = util::read_file(lab_model("target-mtp-f16.gguf")).value();
  ASSERT_TRUE(util::write_file(path, std::string_view(whole).substr(0, whole.size() / 2)));
  WorkerProcess worker;
  trace::Setup setup = lab_setup(SpecType::none);
  setup.model_path = path;
  const auto opened = worker.open(setup);
  EXPECT_EQ(opened.outcome.kind, OutcomeKind::refused);
  EXPECT_NE(opened.outcome.reason.find(path), std::string::npos) << opened.outcome.reason;
}

}  // namespace
}  // namespace paceline
