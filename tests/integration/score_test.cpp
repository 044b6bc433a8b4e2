#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/worker_process.hpp"
#include "util/files.hpp"

namespace paceline {
namespace {

using support::Ended;
using support::lab_model;
using ::testing::HasSubstr;

class ScoreRun : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Ended run(const std::vector<std::string>& arguments) {
    return support::run_program(folder_.path().string(), arguments);
  }
  Ended measure(const std::string& workload) {
    return run({"run", "-m", lab_model("small-f16.gguf"), "--workload", workload, "--prompts", "1",
                "-n", "8", "--temp", "0", "--launches", "1", "--json", path("report.json"),
                "--trace", path("trace.jsonl")});
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(ScoreRun, says_how_many_answers_of_a_run_are_right) {
  const auto questions = path("questions.jsonl");
  ASSERT_TRUE(util::write_file(
      questions,
      R"({"id": "a", "class": "c", "text": "int main(", "task": "any", "answer": "no model says so",)"
      R"( "chance": 0.5})"));
  const Ended measured = measure(questions);
  ASSERT_EQ(measured.exit_code, 0) << measured.errors;
  const Ended scored = run({"score", path("trace.jsonl")});
  ASSERT_EQ(scored.exit_code, 0) << scored.errors;
  EXPECT_THAT(scored.output, HasSubstr("any"));
  EXPECT_THAT(scored.output, HasSubstr("0/1"));
  EXPECT_THAT(scored.output, HasSubstr("50.0 %"));
  EXPECT_EQ(run({"score", "last"}).output, scored.output) << "the same run, in the store";
  EXPECT_EQ(run({"score", "last", "--db", path("other.db")}).exit_code, 2);

  const Ended elsewhere = run({"score", path("trace.jsonl"), "--workload", "evaluation"});
  EXPECT_EQ(elsewhere.exit_code, 2) << "these are other questions";
}

TEST_F(ScoreRun, without_questions_is_refused_with_the_way_to_get_some) {
  const Ended measured = measure("lab");
  ASSERT_EQ(measured.exit_code, 0) << measured.errors;
  const Ended scored = run({"score", path("trace.jsonl")});
  EXPECT_EQ(scored.exit_code, 2);
  EXPECT_THAT(scored.errors, HasSubstr("--workload evaluation"));
}

TEST_F(ScoreRun, of_what_is_neither_a_trace_nor_in_the_store_is_refused) {
  ASSERT_TRUE(util::write_file(path("no.jsonl"), "{\"record\": 3}\n"));
  EXPECT_EQ(run({"score", path("no.jsonl")}).exit_code, 2);
  EXPECT_EQ(run({"score", path("missing.jsonl")}).exit_code, 2);
}

}  // namespace
}  // namespace paceline
