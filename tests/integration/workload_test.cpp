#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "trace/trace_file.hpp"
#include "util/files.hpp"
#include "util/json.hpp"

namespace paceline {
namespace {

using support::Ended;
using ::testing::HasSubstr;

const std::string target = std::string(PACELINE_SOURCE_DIR) + "/models/target-mtp-f16.gguf";

class WorkloadRun : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string written(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(util::write_file(path(name), text));
    return path(name);
  }

  Ended run(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"run", "-m",     target,       "-t",      "1",
                                          "-n",  "8",      "--launches", "1",       "-c",
                                          "512", "--json", path("out"),  "--trace", path("trace")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return support::run_program(folder_.path().string(), arguments);
  }

  util::Json document() const {
    return util::parse_json(util::read_file(path("out")).value_or(""), "document")
        .value_or(util::Json::object());
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(WorkloadRun, weighs_the_classes_of_a_mix_file_and_keeps_the_mix) {
  // Nine requests of 100 tokens to one of 300: 0.75 and 0.25 of the output.
  const auto mix = written("m.toml",
                           "name = \"m\"\nshares_of = \"requests\"\n[classes]\n"
                           "json = {share = 0.9, tokens_per_request = 100, depth = 9000}\n"
                           "prose = {share = 0.1, tokens_per_request = 300}\n");
  const Ended ended = run({"--workload", "lab", "--mix", mix, "--prompts", "2"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto report = document();
  std::map<std::string, double> seconds;
  for (const auto& workload : report.at("arms").at(0).at("workloads"))
    seconds[workload.at("class")] =
        1 / workload.at("decode").at("tokens_per_s").at("value").get<double>();
  ASSERT_EQ(seconds.size(), 2u) << "the mix's classes and no other";
  const double by_hand = 1 / (0.75 * seconds.at("json") + 0.25 * seconds.at("prose"));
  const auto& said = report.at("mix").at("pat_decode").at("plain").at("value");
  EXPECT_NEAR(said.get<double>(), by_hand, 1e-9 * by_hand);
  EXPECT_THAT(ended.output, HasSubstr("mix_depth"));
  const auto trace = trace::read_trace(util::read_file(path("trace")).value_or(""));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_TRUE(trace->header.mix);
  EXPECT_DOUBLE_EQ(trace->header.mix->classes.at("json").share, 0.75);
  EXPECT_EQ(trace->about->fingerprint.count("file " + mix), 1u);
}

TEST_F(WorkloadRun, measures_a_published_file_and_says_what_it_left_out) {
  const auto file = written("question.jsonl",
                            "{\"question_id\": 1, \"category\": \"writing\", \"turns\": "
                            "[\"It was a dark\", \"Go on.\"]}\n");
  const Ended ended =
      run({"--workload", file, "--prompt-form", "raw", "--prompts", "1", "--mix", "prose=1"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const auto trace = trace::read_trace(util::read_file(path("trace")).value_or(""));
  ASSERT_TRUE(trace && trace->about);
  EXPECT_EQ(trace->about->fingerprint.count("file prose=1"), 0u) << "a mix written out is no file";
  EXPECT_THAT(ended.errors, HasSubstr("only the first turn is used: 1 of 1 records have more"));
  const auto launches = document().at("launches");
  EXPECT_EQ(launches.at("prompt_form"), "raw");
  EXPECT_EQ(launches.at("workload_notes").at(0), "read as mt-bench");
  EXPECT_THAT(launches.at("stop_rule").get<std::string>(), HasSubstr("is counted as output"));
}

TEST_F(WorkloadRun, refuses_conversations_in_raw_form_before_anything_is_loaded) {
  const auto file =
      written("tools.json",
              "{\"id\": \"simple_0\", \"question\": [[{\"role\": \"user\", \"content\": "
              "\"Book.\"}]], \"function\": [{\"name\": \"book\"}]}\n");
  const Ended ended = run({"--workload", file, "--prompt-form", "raw"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.errors, HasSubstr("1 of 1 prompts are conversations without a raw form"));
}

}  // namespace
}  // namespace paceline
