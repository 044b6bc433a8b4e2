// Everything that needs a real instruct model. `make test` downloads none: without one these tests
// say how to get it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

std::filesystem::path real_model() {
  const char* named = std::getenv("PACELINE_REAL_MODEL");
  if (named != nullptr && *named != '\0') return named;
  return util::cache_folder() / "models/SmolLM2-135M-Instruct.Q4_1.gguf";
}

class RealModel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(real_model()))
      GTEST_SKIP() << "skipped: run scripts/get-model smollm2 (no " << real_model().string() << ")";
  }

  /// The document of a short run on two classes.
  static util::Json measured(const std::vector<std::string>& options) {
    const support::TemporaryFolder folder;
    const std::string report = (folder.path() / "report.json").string();
    std::vector<std::string> arguments = {
        "run", "-m", real_model().string(), "--class", "json,prose", "--prompts", "1",
        "-n",  "16", "--launches",          "1",       "-t",         "1",         "--json",
        report};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto ended = support::run_program(folder.path().string(), arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return util::parse_json(util::read_file(report).value_or(""), report).value_or(util::Json());
  }

  static trace::Setup setup() {
    trace::Setup setup;
    setup.model_path = real_model().string();
    setup.n_ctx = 512;
    return setup;
  }
};

TEST_F(RealModel, emits_exactly_one_token_a_pass_without_a_drafter) {
  const util::Json document = measured({"--temp", "0"});
  const auto& workloads = document.at("arms").at(0).at("workloads");
  ASSERT_EQ(workloads.size(), 2);
  for (const auto& workload : workloads) {
    const auto& decode = workload.at("decode");
    EXPECT_EQ(decode.at("tokens_per_pass").at("value"), 1.0);
    EXPECT_EQ(decode.at("residual_passes").at("value"), 0);
    EXPECT_GT(decode.at("passes_per_s").at("value").get<double>(), 0);
  }
}

TEST_F(RealModel, drafts_from_the_text_itself_and_every_pass_is_accounted_for) {
  const util::Json document = measured({"--arm", "ngram-simple:2/4"});
  EXPECT_EQ(document.at("launches").at("prompt_form"), "chat");
  long offered = 0;
  for (const auto& workload : document.at("arms").at(1).at("workloads")) {
    EXPECT_EQ(workload.at("decode").at("residual_passes").at("value"), 0);
    EXPECT_EQ(workload.at("passes").at("replay"), 0) << "plain attention rolls back by itself";
    offered += workload.at("acceptance").at("offered").get<long>();
  }
  EXPECT_GT(offered, 0);
}

TEST_F(RealModel, is_an_instruct_model_of_135_million_parameters_with_a_chat_template) {
  support::WorkerProcess worker;
  const auto opened = worker.open(setup(), {});
  ASSERT_TRUE(opened.facts) << opened.outcome.reason;
  EXPECT_EQ(opened.facts->target.architecture, "llama");
  EXPECT_TRUE(opened.facts->target.has_chat_template);
  // As published: 134,515,008 parameters, 49,152 tokens, 30 layers.
  EXPECT_EQ(opened.facts->target.parameters, 134'515'008U);
  EXPECT_EQ(opened.facts->target.vocabulary, 49'152);
  EXPECT_EQ(opened.facts->target.layers, 30);
}

TEST_F(RealModel, says_greedily_that_paris_is_the_capital_of_france) {
  support::WorkerProcess worker;
  const auto opened = worker.open(setup(), {});
  ASSERT_TRUE(opened.facts) << opened.outcome.reason;
  protocol::Generate job;
  job.prompt = "The capital of France is";
  job.n_predict = 4;
  job.sampling.temp = 0;
  const auto report = worker.run(job);
  EXPECT_NE(report.finished.text.find("Paris"), std::string::npos) << report.finished.text;
  EXPECT_EQ(report.passes.size() + 1, report.tokens().size());
}

}  // namespace
}  // namespace paceline
