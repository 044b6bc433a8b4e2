#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "model/facts.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "synth/walk.hpp"
#include "trace/names.hpp"
#include "util/files.hpp"

namespace paceline {
namespace {

using support::greedy;
using support::JobReport;
using support::WorkerProcess;
using trace::OutcomeKind;
using trace::SpecType;

// Any text can be written with the tokenizer, a letter a token.
constexpr const char* prompt = "abcdefg";

class Invented : public testing::Test {
 protected:
  std::string made(protocol::Invent job) {
    job.destination_path = folder.path() / (std::to_string(++files) + ".gguf");
    const auto outcome = worker.run(job).finished.outcome;
    EXPECT_EQ(outcome.kind, OutcomeKind::done) << outcome.reason;
    return job.destination_path;
  }

  std::string model(const std::string& architecture,
                    std::map<std::string, std::int64_t> shape = {}) {
    protocol::Invent job;
    job.architecture = architecture;
    job.shape = std::move(shape);
    return made(std::move(job));
  }

  std::string drafter(const std::string& kind, const std::string& target,
                      std::optional<double> agreement = std::nullopt) {
    protocol::Invent job;
    job.architecture = kind;
    job.target_path = target;
    job.agreement = agreement;
    job.seed = 2;
    return made(std::move(job));
  }

  JobReport said(const std::string& target, SpecType type, const std::string& draft,
                 protocol::Generate request) {
    trace::Setup setup;
    setup.model_path = target;
    setup.spec_type = type;
    if (!draft.empty()) setup.draft_path = draft;
    setup.n_ctx = 2048;
    const auto opened = worker.open(setup);
    EXPECT_TRUE(opened.facts.has_value()) << opened.outcome.reason;
    if (!opened.facts) return {};
    JobReport report = worker.run(request);
    EXPECT_EQ(report.finished.outcome.kind, OutcomeKind::done) << report.finished.outcome.reason;
    return report;
  }

  JobReport plain(const std::string& target, int tokens) {
    return said(target, SpecType::none, "", greedy(prompt, tokens));
  }

  support::TemporaryFolder folder;
  WorkerProcess worker;
  int files = 0;
};

struct Pair {
  const char* architecture;
  std::map<std::string, std::int64_t> shape;
  SpecType type;
  const char* drafter;  ///< empty: in the target's file
};

class InventedPair : public Invented, public testing::WithParamInterface<Pair> {};

/// Most of these draft nonsense: what they must not do is change the text.
TEST_P(InventedPair, LoadsDraftsAndSaysWhatItSaysWithoutADrafter) {
  const Pair& pair = GetParam();
  const std::string target = model(pair.architecture, pair.shape);
  const std::string draft = *pair.drafter == '\0' ? "" : drafter(pair.drafter, target);
  const std::vector<std::int32_t> expected = plain(target, 16).tokens();
  ASSERT_EQ(expected.size(), 16u);
  const JobReport report = said(target, pair.type, draft, greedy(prompt, 16));
  EXPECT_EQ(report.tokens(), expected);
  int offered = 0;
  for (const trace::Pass& pass : report.passes) offered += pass.offered;
  EXPECT_GT(offered, 0) << "nothing was drafted";
}

const std::vector<Pair> pairs = {{"llama", {}, SpecType::draft_simple, "draft-simple"},
                                 {"llama", {}, SpecType::draft_eagle3, "eagle3"},
                                 {"llama", {}, SpecType::draft_dflash, "dflash"},
                                 {"muse-glimmer", {}, SpecType::draft_dflash, "dflash"},
                                 {"muse-glimmer", {}, SpecType::draft_dflash, "dflash2"},
                                 {"muse-glimmer", {}, SpecType::draft_dspark, "dspark"},
                                 {"gemma4", {}, SpecType::draft_mtp, "gemma4-assistant"},
                                 {"qwen35", {{"mtp", 1}}, SpecType::draft_mtp, ""},
                                 {"qwen35", {}, SpecType::draft_dflash, "dflash2"},
                                 {"qwen35", {}, SpecType::draft_eagle3, "eagle3"},
                                 {"qwen4exp", {}, SpecType::draft_simple, "draft-simple"}};

INSTANTIATE_TEST_SUITE_P(Synth, InventedPair, testing::ValuesIn(pairs), [](const auto& instance) {
  std::string name = std::string(instance.param.architecture) + "_" +
                     (*instance.param.drafter == '\0' ? "mtp" : instance.param.drafter);
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

TEST_F(Invented, TextIsTheWalkThatTheSeedSays) {
  std::vector<int> next(2048, -1);
  const synth::Walk walk(1, 2048, 1);
  for (int token = 0; token < 2048; ++token)
    if (const int before = walk.before()[static_cast<std::size_t>(token)]; before >= 0)
      next[static_cast<std::size_t>(before)] = token;
  for (const char* architecture : {"llama", "muse-glimmer", "gemma4", "qwen35", "qwen4exp"}) {
    const auto tokens = plain(model(architecture), 64).tokens();
    ASSERT_EQ(tokens.size(), 64u) << architecture;
    for (std::size_t i = 1; i < tokens.size(); ++i)
      ASSERT_EQ(tokens[i], next[static_cast<std::size_t>(tokens[i - 1])])
          << architecture << " at " << i;
  }
}

// Their words follow from the last token alone; how sure they are of them, from the whole context.
TEST_F(Invented, ContextsThatSlideOrAreSummedUpComeBackToTheTextThatFilledThem) {
  for (const char* architecture : {"llama", "gemma4", "qwen35"}) {
    plain(model(architecture), 2);
    const std::string letters(600, 'a');
    ASSERT_EQ(
        worker.run(protocol::Fill{letters + std::string(prompt), 600}).finished.outcome.reason, "");
    protocol::Generate request = greedy(prompt, 200);  // longer than a window of 128 tokens
    request.on_filled = request.record_gaps = true;
    const auto first = worker.run(request).gaps();
    ASSERT_EQ(first.size(), 200u) << architecture;
    EXPECT_EQ(worker.run(request).gaps(), first) << architecture;
    request.on_filled = false;
    EXPECT_NE(worker.run(request).gaps(), first) << architecture << " does not read its context";
  }
}

/// The share of tested draft tokens that the target said too, against a binomial interval of four
/// standard errors: outside it falls one run in 16,000.
void expect_agreement(const std::vector<trace::Pass>& passes, double agreement, const char* what) {
  double tested = 0;
  double accepted = 0;
  for (const trace::Pass& pass : passes) {
    tested += pass.tested;
    accepted += pass.accepted;
  }
  ASSERT_GT(tested, 400) << what;
  const double error = std::sqrt(agreement * (1 - agreement) / tested);
  EXPECT_NEAR(accepted / tested, agreement, 4 * error) << what;
}

TEST_F(Invented, PairsAgreeAsOftenAsWasAskedFor) {
  const std::string target = model("llama", {{"vocab", 8192}});
  const auto expected = plain(target, 1024).tokens();
  for (const double agreement : {0.5, 0.8}) {
    const auto draft = drafter("draft-simple", target, agreement);
    const auto report = said(target, SpecType::draft_simple, draft, greedy(prompt, 1024));
    EXPECT_EQ(report.tokens(), expected);
    expect_agreement(report.passes, agreement, "draft-simple");
  }
  const auto dspark = drafter("dspark", target, 0.7);
  expect_agreement(said(target, SpecType::draft_dspark, dspark, greedy(prompt, 1024)).passes, 0.7,
                   "dspark");
}

TEST_F(Invented, PredictionBlocksAgreeAsOftenAsWasAskedFor) {
  protocol::Invent job;
  job.architecture = "qwen35";
  job.shape = {{"mtp", 1}, {"vocab", 8192}};
  job.agreement = 0.6;
  const std::string target = made(job);
  expect_agreement(said(target, SpecType::draft_mtp, "", greedy(prompt, 1024)).passes, 0.6, "mtp");
}

TEST_F(Invented, SameSeedGivesTheSameBytesAndAnotherOneOthers) {
  protocol::Invent job;
  job.architecture = "llama";
  job.quant = "q4_K";
  job.shape = {{"embd", 1024}, {"ff", 4096}};  // large enough for rows from the pool
  const auto bytes = [&] { return util::read_file(made(job)).value(); };
  const std::string first = bytes();
  EXPECT_TRUE(first == bytes());
  job.seed = 2;
  EXPECT_FALSE(first == bytes());
  EXPECT_EQ(first.size(), bytes().size());
}

TEST_F(Invented, EveryTypeOfWeightsLoadsAndGenerates) {
  for (const char* quant : {"f32", "bf16", "q4_0", "q8_0", "q2_K", "q4_K", "q5_K", "q6_K", "iq3_s",
                            "iq4_xs", "mxfp4", "nvfp4"}) {
    protocol::Invent job;
    job.architecture = "llama";
    job.quant = quant;
    EXPECT_EQ(plain(made(job), 8).tokens().size(), 8u) << quant;
  }
}

TEST_F(Invented, FilesSayThatTheyAreSynthetic) {
  const auto facts = model::read_file_facts(model("llama")).value();
  ASSERT_TRUE(facts.synthetic.has_value());
  EXPECT_NE(facts.synthetic->find("llama, 4 layers"), std::string::npos) << *facts.synthetic;
  EXPECT_TRUE(facts.oddities.empty()) << facts.oddities.front();
}

TEST_F(Invented, NothingHalfWrittenIsLeftOfWhatCannotBeWritten) {
  protocol::Invent job;
  job.architecture = "llama";
  const auto reason = [&](const std::string& path) {
    job.destination_path = path;
    const auto outcome = worker.run(job).finished.outcome;
    EXPECT_EQ(outcome.kind, OutcomeKind::refused);
    return outcome.reason;
  };
  EXPECT_NE(reason("/nowhere/m.gguf").find("/nowhere/m.gguf"), std::string::npos);
  EXPECT_NE(reason(made(job)).find("there already"), std::string::npos);
  job.shape = {{"embd", 65536}, {"ff", 1 << 20}, {"layers", 512}};
  EXPECT_NE(reason(folder.path() / "huge.gguf").find("make room"), std::string::npos);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().string().find(".synthetic"), std::string::npos) << entry.path();
}

std::vector<std::vector<std::int32_t>> drafts(const JobReport& report) {
  std::vector<std::vector<std::int32_t>> all;
  for (const trace::Pass& pass : report.passes) all.push_back(pass.draft);
  return all;
}

class HeavierModel : public Invented, public testing::WithParamInterface<Pair> {};

/// Three times as heavy, the model says the same, and drafters find what they read: they draft the
/// same tokens, accepted or not.
TEST_P(HeavierModel, SaysTheSameAndHasTheSizeThatWasAskedFor) {
  const Pair& pair = GetParam();
  const std::string light = model(pair.architecture, pair.shape);
  const std::string draft = *pair.drafter == '\0' ? "" : drafter(pair.drafter, light);
  const std::uint64_t size = std::filesystem::file_size(light);
  protocol::Synth job;
  job.source_path = light;
  job.destination_path = folder.path() / "heavy.gguf";
  job.ballast_bytes = 3 * size;
  const auto outcome = worker.run(job).finished.outcome;
  ASSERT_EQ(outcome.kind, OutcomeKind::done) << outcome.reason;
  const auto source = model::read_file_facts(light).value();
  const auto copy = model::read_file_facts(job.destination_path).value();
  const int added = copy.layers.value() - source.layers.value();
  ASSERT_GT(added, 0);
  const double layer = static_cast<double>(copy.file_bytes - size) / added;
  EXPECT_NEAR(static_cast<double>(copy.file_bytes), 3.0 * static_cast<double>(size), layer);
  for (const SpecType type : {SpecType::none, pair.type}) {
    const std::string with = type == SpecType::none ? "" : draft;
    auto request = greedy(prompt, 48);
    request.record_drafts = true;
    const auto expected = said(light, type, with, request);
    const auto heavy = said(job.destination_path, type, with, request);
    EXPECT_EQ(heavy.tokens(), expected.tokens()) << util::enum_name(type);
    EXPECT_EQ(drafts(heavy), drafts(expected)) << util::enum_name(type);
  }
}

const std::vector<Pair> heavier = {{"llama", {}, SpecType::draft_eagle3, "eagle3"},
                                   {"muse-glimmer", {}, SpecType::draft_dspark, "dspark"},
                                   {"gemma4", {}, SpecType::draft_simple, "draft-simple"},
                                   {"qwen35", {{"mtp", 1}}, SpecType::draft_mtp, ""},
                                   {"qwen4exp", {}, SpecType::draft_simple, "draft-simple"}};

INSTANTIATE_TEST_SUITE_P(Synth, HeavierModel, testing::ValuesIn(heavier), [](const auto& instance) {
  std::string name = instance.param.architecture;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

/// No file may grow beyond so many bytes while it lives, here and in programs started from here.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(SynthCommand, LeavesNothingBehindWhenTheDiskTakesNoMore) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() / "m.gguf";
  const auto ended = [&] {
    const FileLimit limit(1000000);
    return support::run_program(folder.path(), {"synth", "--arch", "llama", path});
  }();
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_NE(ended.errors.find("could not be written (File too large)"), std::string::npos)
      << ended.errors;
  EXPECT_FALSE(std::filesystem::exists(path));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

TEST(SynthCommand, LeavesNothingBehindWhenItIsStopped) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() / "m.gguf";
  support::Program program(folder.path(), {"synth", "--arch", "llama", "--embd", "4096", "--ff",
                                           "16384", "--layers", "4", path});
  ASSERT_GT(program.wait_for_child(), 0);
  program.send(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 130);
  EXPECT_FALSE(std::filesystem::exists(path));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

/// Half a gigabyte is written, and no process that took part held as much as half of that.
TEST(SynthCommand, HoldsASmallPartOfALargeModelInMemory) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() / "m.gguf";
  const auto ended = support::run_program(
      folder.path(),
      {"synth", "--arch", "llama", "--embd", "4096", "--ff", "16384", "--heads", "32", "--kv-heads",
       "8", "--head-dim", "128", "--layers", "2", "--quant", "q8_0", path});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_GT(std::filesystem::file_size(path), 500000000u);
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  EXPECT_LT(used.ru_maxrss, 250000) << "in kB, the largest of this program's children so far";
}

TEST(SynthCommand, WritesAModelAndSaysWhatItPlans) {
  const support::TemporaryFolder folder;
  const std::string path = folder.path() / "m.gguf";
  const auto ended = support::run_program(
      folder.path(), {"synth", "--like", "smol-135m", "--scale", "0.02", "--quant", "q4_K", path});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_NE(ended.errors.find("like smol-135m at scale 0.02"), std::string::npos) << ended.errors;
  EXPECT_NE(ended.errors.find("free"), std::string::npos) << ended.errors;
  EXPECT_TRUE(std::filesystem::exists(path));
  const auto again = support::run_program(folder.path(), {"synth", "--arch", "llama", path});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.errors.find("there already"), std::string::npos) << again.errors;
  const auto inspected = support::run_program(folder.path(), {"inspect", path});
  EXPECT_NE(inspected.output.find("SYNTHETIC"), std::string::npos) << inspected.output;
}

}  // namespace
}  // namespace paceline
